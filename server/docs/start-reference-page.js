// Builds the reference out of the OpenAPI document of this server.

const place = document.querySelector('#reference');
const { base, clientId, return: returnPath } = place.dataset;

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColours);
followColours();

/** Users sign in here by code. Client credentials and API keys need a secret, which has no business in a page. */
const onlyPeople = () => ({
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
  // there is one server: this one
  wrapComponents: { ServersContainer: () => () => null },
});

const reference = SwaggerUIBundle({
  url: `${base}/openapi.json`,
  domNode: place,
  oauth2RedirectUrl: location.origin + returnPath,
  plugins: [onlyPeople, globalThis.mandateSamples],
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
