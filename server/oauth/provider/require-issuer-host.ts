import type { RequestHandler } from 'express';

/**
 * The server is where its issuer says it is. The engine builds addresses from the Host header, so a request for another host
 * could make it give out links to an attacker's: such a request is refused (421), and what a proxy claims about the address is
 * not listened to.
 */
export function pinOrigin(issuer: string, refuse: RequestHandler): RequestHandler {
  const { host, protocol } = new URL(issuer);
  return (req, res, next) => {
    if (req.headers.host?.toLowerCase() !== host) return refuse(req, res, next);
    delete req.headers['x-forwarded-host'];
    req.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    return next();
  };
}
