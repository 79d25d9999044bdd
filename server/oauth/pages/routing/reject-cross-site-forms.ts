import type { Request, RequestHandler } from 'express';
import { endpoints } from '../../protocol/endpoints.ts';

/**
 * Passes a request on to `reject` when its headers say that a page of another origin sent it, even of a sibling subdomain. Browsers send `Origin`
 * (RFC 6454 section 7, `null` for a page that hides its origin) with every form, and most of them `Sec-Fetch-Site` (W3C Fetch Metadata). A client
 * that sends neither needs a form token, as every other.
 */
export function rejectOtherSites(issuer: string, reject: RequestHandler): RequestHandler {
  const { origin } = new URL(issuer);
  return (req, res, next) => (isFromOrigin(req, origin) ? next() : reject(req, res, next));
}

function isFromOrigin({ headers }: Request, expected: string): boolean {
  const { origin = expected, 'sec-fetch-site': site = 'none' } = headers;
  return origin === expected && (site === 'same-origin' || site === 'none');
}

/**
 * The only endpoints that accept POST requests from other sites. Clients authenticate at them by their own credentials or a token, never by a
 * cookie; the last two only start a flow that asks the user (OpenID Connect Core section 3.1.2.1, RP-Initiated Logout section 2).
 */
const endpointsForOtherSites = new Set<string>([
  endpoints.token,
  endpoints.revocation,
  endpoints.introspection,
  endpoints.pushed_authorization_request,
  endpoints.device_authorization,
  endpoints.registration,
  endpoints.userinfo,
  endpoints.authorization,
  endpoints.end_session,
]);

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Applies `rejectOtherSites` to the forms of the engine, which are everything that is not made for other sites. */
export function rejectOtherSitesAtEngine(issuer: string, reject: RequestHandler): RequestHandler {
  const check = rejectOtherSites(issuer, reject);
  return (req, res, next) => {
    const isOpen = endpointsForOtherSites.has(req.path) || req.path.startsWith(`${endpoints.registration}/`);
    return safeMethods.has(req.method) || isOpen ? next() : check(req, res, next);
  };
}
