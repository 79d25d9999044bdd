export const loopbackHostNames: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Returns why an application cannot be registered with this redirect URI, or `undefined` if the URI is allowed. The authorization server
 * compares redirect URIs exactly.
 */
export function findRedirectUriRegistrationError(uri: string): string | undefined {
  if (!URL.canParse(uri) || !uri.isWellFormed()) return 'is not an absolute URI';
  if (/[\p{Cc}\s]/u.test(uri)) return 'contains a control character or a space';
  const { protocol, hostname, username, password, href } = new URL(uri);
  if (uri.includes('#')) return 'contains a fragment';
  if (uri.includes('*')) return 'contains a wildcard';
  if (username || password) return 'contains a user name';
  if (protocol === 'https:') return href === uri || href === `${uri}/` ? undefined : 'is not in normalized form';
  if (protocol === 'http:')
    return loopbackHostNames.has(hostname) ? undefined : 'uses http with a host other than the loopback interface (RFC 8252 section 7.3)';
  // A private-use scheme must be in reverse domain notation to prevent collisions (RFC 8252 section 7.1).
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol) ? undefined : 'has a scheme that is not in reverse domain notation';
}
