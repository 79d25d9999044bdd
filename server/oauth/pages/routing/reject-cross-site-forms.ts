import type { Request, RequestHandler } from 'express';
import { oauthEndpointPaths } from '../../protocol/endpoint-paths-and-audiences.ts';

/**
 * Calls `reject` if the headers show that a page from another origin, even from a sibling subdomain, sent the request. Browsers send
 * `Origin` with every form (RFC 6454 section 7; `null` for a page that hides its origin), and most also send `Sec-Fetch-Site` (W3C Fetch
 * Metadata). A client that sends neither header still needs a valid CSRF token.
 */
export function rejectCrossSiteForms(issuer: string, reject: RequestHandler): RequestHandler {
  const { origin } = new URL(issuer);
  return (req, res, next) => (isFromOrigin(req, origin) ? next() : reject(req, res, next));
}

function isFromOrigin({ headers }: Request, expected: string): boolean {
  const { origin = expected, 'sec-fetch-site': site = 'none' } = headers;
  return origin === expected && (site === 'same-origin' || site === 'none');
}

/**
 * The only endpoints that accept POST requests from other sites. At these endpoints, clients authenticate with their credentials or a
 * token, never with a cookie. The authorization and end-session endpoints only start an interactive flow (OpenID Connect Core section
 * 3.1.2.1, RP-Initiated Logout section 2).
 */
const crossSiteEndpoints = new Set<string>([
  oauthEndpointPaths.token,
  oauthEndpointPaths.revocation,
  oauthEndpointPaths.introspection,
  oauthEndpointPaths.pushed_authorization_request,
  oauthEndpointPaths.device_authorization,
  oauthEndpointPaths.registration,
  oauthEndpointPaths.userinfo,
  oauthEndpointPaths.authorization,
  oauthEndpointPaths.end_session,
]);

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Applies `rejectCrossSiteForms` to every oidc-provider endpoint that is not meant for requests from other sites. */
export function rejectCrossSiteOidcProviderForms(issuer: string, reject: RequestHandler): RequestHandler {
  const check = rejectCrossSiteForms(issuer, reject);
  return (req, res, next) => {
    const isOpen = crossSiteEndpoints.has(req.path) || req.path.startsWith(`${oauthEndpointPaths.registration}/`);
    return safeMethods.has(req.method) || isOpen ? next() : check(req, res, next);
  };
}
