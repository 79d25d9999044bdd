/**
 * What a browser may do with our pages. A form whose answer redirects is stopped by `form-action` at the target,
 * so the address the person is sent back to has to be among the allowed ones.
 */
export function pageHeaders(issuer: string, returnTo?: string): Record<string, string> {
  const policy = [
    `default-src 'none'`,
    `style-src 'self'`,
    `script-src 'self'`,
    `img-src 'self' data:`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
    `form-action ${["'self'", ...(returnTo === undefined ? [] : [formTarget(returnTo)])].join(' ')}`,
  ];
  return { 'Content-Security-Policy': policy.join('; '), 'Cache-Control': 'no-store', ...frameHeaders(issuer) };
}

/** For pages whose content is not ours to restrict any further. */
export const frameHeaders = (issuer: string): Record<string, string> => ({
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  // with `no-referrer` browsers send `Origin: null` with our own forms, too
  'Referrer-Policy': 'same-origin',
  ...(issuer.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
});

function formTarget(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  if (hostname === '[::1]') return 'http:'; // browsers ignore a source with an IPv6 address
  return origin === 'null' ? protocol : origin;
}
