// Builds the reference out of the OpenAPI document of this server.

const place = document.querySelector('#reference');
const { base, clientId, return: returnPath } = place.dataset;

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColours);
followColours();

/** People sign in here by code; the grant of applications that act for themselves needs a secret, which has no business in a page. */
const onlyPeople = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (document) => {
          delete document?.components?.securitySchemes?.oauth2?.flows?.clientCredentials;
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
