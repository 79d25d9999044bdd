// Starts Swagger UI with the OpenAPI document of this server.

const container = document.querySelector('#reference');
const { base, clientId, return: returnPath } = container.dataset;

const darkScheme = matchMedia('(prefers-color-scheme: dark)');
const applyColorScheme = () => document.documentElement.classList.toggle('dark-mode', darkScheme.matches);
darkScheme.addEventListener('change', applyColorScheme);
applyColorScheme();

/** Offers only user sign-in with an authorization code. Client credentials and API keys are secrets that do not belong in a web page. */
const userSignInOnly = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (document) => {
          const schemes = document?.components?.securitySchemes;
          delete schemes?.oauth2?.flows?.clientCredentials;
          delete schemes?.apiKey;
          for (const methods of Object.values(document?.paths ?? {}))
            for (const operation of Object.values(methods)) operation.security = operation.security?.filter((one) => !('apiKey' in one));
          return update(document);
        },
      },
    },
  },
  // hidden, because there is only this server
  wrapComponents: { ServersContainer: () => () => null },
});

const reference = SwaggerUIBundle({
  url: `${base}/openapi.json`,
  domNode: container,
  oauth2RedirectUrl: location.origin + returnPath,
  plugins: [userSignInOnly, globalThis.mandateSamples],
  validatorUrl: null,
  persistAuthorization: false,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  syntaxHighlight: { activated: false },
  tryItOutEnabled: false,
});
reference.initOAuth({ clientId, scopes: 'orders.read orders.write payments.read payments.write', usePkceWithAuthorizationCodeGrant: true });
