/** Reads the values that the server writes into the console document (server/console/serve-console.ts). */
function readEnvironment() {
  const { issuer, path, clientId, scopes, staffScopes } = document.querySelector<HTMLElement>('#console')?.dataset ?? {};
  if (issuer === undefined || path === undefined || clientId === undefined || scopes === undefined || staffScopes === undefined)
    throw new Error('the document has no element with the settings of the console');
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
  return { issuer, path, clientId, scopes: scopes.split(' '), staffScopes: staffScopes.split(' '), nonce };
}

/**
 * `issuer`: URL of the API and the authorization server. `path`: path of the console. `scopes`: requested scopes. `staffScopes`: requested
 * scopes that only staff can have. `nonce`: nonce for style elements.
 */
export const consoleEnvironment = readEnvironment();
