import type { RequestHandler } from 'express';
import { administratorOnlyScopes, getRolesAllowedForScope, scopeNames, type Scope } from '@mandate/contract';
import type { Principal } from '../request/principal-and-token-types.ts';
import { createProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';
import { requirePrincipal } from '../request/request-context-principal-and-access-log.ts';
import { getRequiredAccessOfMatchedRoute } from '../request/matched-route.ts';

/**
 * Returns whether the token has the scope and the role of its user permits that scope. With client credentials, no role is checked, because
 * there is no user and an administrator registered the application with its scopes. Some scopes require a signed-in administrator.
 */
export const canUseScope = (principal: Principal | undefined, scope: Scope): boolean =>
  principal !== undefined &&
  principal.scopes.has(scope) &&
  (principal.user ? getRolesAllowedForScope(scope).includes(principal.user.role) : !administratorOnlyScopes.has(scope));

/** Returns every scope that the principal may use. */
export const listUsableScopes = (principal: Principal): string[] => scopeNames.filter((scope) => canUseScope(principal, scope));

/** Requires one of the route's scopes. The database queries restrict which objects the caller can access. */
export const authorizeByScope: RequestHandler = (req, _res, next) => {
  const access = getRequiredAccessOfMatchedRoute(req);
  if (access === 'token') requirePrincipal(req);
  else if (access !== 'public') requireAnyScope(requirePrincipal(req), ...access);
  next();
};

/**
 * Throws unless the principal can use at least one of these scopes. Some route handlers call this function to require additional scopes.
 * The challenge contains the first scope, which is the least permissive, so that a client does not request more than necessary (RFC 6750
 * section 3).
 */
export function requireAnyScope(principal: Principal, ...access: Scope[]): void {
  if (access.some((scope) => canUseScope(principal, scope))) return;
  const unusableScope = access.find((scope) => principal.scopes.has(scope));
  if (unusableScope !== undefined) {
    const detail = getRolesAllowedForScope(unusableScope).includes('staff')
      ? translatable`Only staff and administrators can use the scope ${{ scope: unusableScope }}.`
      : translatable`Only administrators can use the scope ${{ scope: unusableScope }}.`;
    throw createProblem('forbidden', { detail });
  }
  throw createProblem('insufficient_scope', {
    detail: translatable`The access token lacks a required scope: ${{ scopes: { anyOf: access } }}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${access[0]}"` },
  });
}
