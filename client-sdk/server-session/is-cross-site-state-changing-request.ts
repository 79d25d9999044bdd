/**
 * Returns whether a state-changing request may have been sent by another site (cross-site request forgery). Browsers add
 * `Sec-Fetch-Site` to every state-changing request; older browsers add only `Origin`. A request without either header is therefore treated
 * as cross-site.
 */
export function isCrossSiteStateChangingRequest({ method, headers }: Request, origin: string): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return false;
  const site = headers.get('sec-fetch-site');
  return site === null ? headers.get('origin') !== origin : site !== 'same-origin' && site !== 'none';
}
