// Starts Scalar with the OpenAPI document of this server.

const container = document.querySelector('#reference');
const { base, clientId, library, nonce, return: returnPath } = container.dataset;

// Scalar creates style elements without a nonce, which the content security policy would block.
const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = createElement(name, options);
  if (element instanceof HTMLStyleElement) element.nonce = nonce;
  return element;
};

// The server-rendered first operation is visible until Scalar has rendered the page.
const firstOperation = document.querySelector('#first-operation');
if (location.hash) firstOperation.remove();
new MutationObserver((_, observer) => {
  if (!container.querySelector('h1')) return;
  observer.disconnect();
  firstOperation.remove();
}).observe(container, { childList: true, subtree: true });

// The CLI opens this page at `#/TAG/OPERATION`.
if (location.hash.startsWith('#/')) history.replaceState(null, '', `#tag${location.hash.slice(1)}`);

await import(base + library);
globalThis.Scalar.createApiReference(container, {
  url: `${base}/docs/openapi.json`,
  generateTagSlug: ({ name }) => name,
  generateOperationSlug: ({ operationId }) => operationId,
  authentication: {
    preferredSecurityScheme: 'oauth2',
    securitySchemes: {
      oauth2: {
        flows: {
          authorizationCode: {
            'x-scalar-client-id': clientId,
            'x-scalar-redirect-uri': location.origin + returnPath,
            'x-scalar-credentials-location': 'body',
            'x-usePkce': 'SHA-256',
            selectedScopes: ['orders.read', 'orders.write', 'payments.read', 'payments.write'],
          },
        },
      },
    },
  },
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  theme: 'none',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  hideDarkModeToggle: true,
  hideModels: true,
  hiddenClients: true,
  documentDownloadType: 'none',
});
