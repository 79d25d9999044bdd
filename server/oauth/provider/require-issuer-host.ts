import type { RequestHandler } from 'express';

/**
 * Rejects requests for any host other than the issuer's (421). oidc-provider builds URLs from the Host header, so a forged header could
 * make the server return links to an attacker's host. X-Forwarded-Host is ignored, and X-Forwarded-Proto is set to the issuer's scheme.
 */
export function requireIssuerHost(issuer: string, reject: RequestHandler): RequestHandler {
  const { host, protocol } = new URL(issuer);
  return (req, res, next) => {
    if (req.headers.host?.toLowerCase() !== host) return reject(req, res, next);
    delete req.headers['x-forwarded-host'];
    req.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    return next();
  };
}
