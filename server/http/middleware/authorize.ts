import type { RequestHandler } from 'express';
import { administratorScopes, rolesFor, scopeNames, type Scope } from '@mandate/contract';
import type { Principal } from '../request/principal.ts';
import { problem } from '../problem-details/problem.ts';
import { principalOf } from '../request/request-context.ts';
import { accessOf } from '../request/matched-route.ts';

/**
 * Whether the token has the scope and its user has a role that can use it. An application that acts for itself has no user: an
 * administrator registered it with its scopes. Some scopes are only for a signed-in administrator.
 */
export const may = (principal: Principal | undefined, scope: Scope): boolean =>
  principal !== undefined &&
  principal.scopes.has(scope) &&
  (principal.user ? rolesFor(scope).includes(principal.user.role) : !administratorScopes.has(scope));

/** Returns every scope that the principal may use. */
export const allowedScopes = (principal: Principal): string[] => scopeNames.filter((scope) => may(principal, scope));

/** Lets a request in that has one of the route's scopes; which objects it reaches is decided in the queries. */
export const authorize: RequestHandler = (req, _res, next) => {
  const access = accessOf(req);
  if (access === 'token') principalOf(req);
  else if (access !== 'public') requireScope(principalOf(req), ...access);
  next();
};

/**
 * Requires one of these scopes, and that the principal may use it; also for what an operation needs besides what its route declares. The
 * challenge names the first scope, which allows the least: a client that requests what it is told (RFC 6750, section 3) asks for no more.
 */
export function requireScope(principal: Principal, ...access: Scope[]): void {
  if (access.some((scope) => may(principal, scope))) return;
  const unusable = access.find((scope) => principal.scopes.has(scope));
  if (unusable !== undefined) {
    const who = rolesFor(unusable).includes('staff') ? 'staff and administrators' : 'administrators';
    throw problem('forbidden', { detail: `Only ${who} can use the scope ${unusable}.` });
  }
  throw problem('insufficient_scope', {
    detail: `The access token lacks a scope: ${access.join(' or ')}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${access[0]}"` },
  });
}
