/**
 * Returns a page's security headers. Browsers also apply `form-action` to redirects after a form submission, so the client's redirect URI
 * must be an allowed target. The script may send requests only on pages with a live region.
 */
export function createPageSecurityHeaders(issuer: string, returnTo?: string, isLive = false): Record<string, string> {
  const policy = [
    `default-src 'none'`,
    `style-src 'self'`,
    `script-src 'self'`,
    `img-src 'self' data:`,
    ...(isLive ? [`connect-src 'self'`] : []),
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
    `form-action ${["'self'", ...(returnTo === undefined ? [] : [formActionSource(returnTo)])].join(' ')}`,
  ];
  return { 'Content-Security-Policy': policy.join('; '), 'Cache-Control': 'no-store', ...createSecurityHeadersWithoutCsp(issuer) };
}

/** Returns the security headers for pages that oidc-provider renders, without a Content-Security-Policy. */
export const createSecurityHeadersWithoutCsp = (issuer: string): Record<string, string> => ({
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  // With `no-referrer`, browsers would send `Origin: null` even with this server's own forms.
  'Referrer-Policy': 'same-origin',
  ...(issuer.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
});

function formActionSource(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  if (hostname === '[::1]') return 'http:'; // browsers ignore sources with an IPv6 address
  return origin === 'null' ? protocol : origin;
}
