import { findUrlRejectionReason } from '../../outgoing-http/check-public-url.ts';

/** Maximum length of a client ID URL, in characters. The database column has the same limit. */
const lengthMax = 500;

/** Returns whether a client ID has the form of a metadata document URL. The URL may still be invalid. */
export const isUrlClientId = (clientId: string): boolean => /^https:/i.test(clientId);

/**
 * Returns why a URL is not a valid client ID (draft-ietf-oauth-client-id-metadata-document section 3), or undefined if the URL is valid.
 * Client IDs are compared as strings, so the URL must be in its normalized form.
 */
export function findClientIdUrlError(clientId: string): string | undefined {
  if (!clientId.startsWith('https://') || !/^[!-~]+$/.test(clientId)) return 'must be an https URL in ASCII';
  if (clientId.length > lengthMax) return `must have at most ${lengthMax} characters`;
  const fault = findUrlRejectionReason(clientId, false, 'https://example.com/client.json');
  if (fault !== undefined) return fault;
  const { href, pathname } = new URL(clientId);
  if (pathname === '/') return 'must have a path';
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(clientId)) return 'must not have a path with . or ..';
  return href === clientId ? undefined : `must be in normalized form: ${href}`;
}
