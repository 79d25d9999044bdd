import { urlFault } from '../../outgoing-http/public-url.ts';

/** Longest client ID that is a URL, in characters; the table has the same limit. */
const lengthMax = 500;

/** Whether a client ID claims to be the URL of a client ID metadata document. */
export const isUrlClientId = (clientId: string): boolean => /^https:/i.test(clientId);

/**
 * Returns why a URL cannot be a client ID (draft-ietf-oauth-client-id-metadata-document section 3), or undefined when it can.
 * Client IDs are compared as strings, so that a URL has to be written in its normal form.
 */
export function clientIdUrlFault(clientId: string): string | undefined {
  if (!clientId.startsWith('https://') || !/^[!-~]+$/.test(clientId)) return 'must be an https URL in ASCII';
  if (clientId.length > lengthMax) return `must have at most ${lengthMax} characters`;
  const fault = urlFault(clientId, false);
  if (fault !== undefined) return fault;
  const { href, pathname } = new URL(clientId);
  if (pathname === '/') return 'must have a path';
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(clientId)) return 'must not have a path with . or ..';
  return href === clientId ? undefined : `must be written in its normal form: ${href}`;
}
