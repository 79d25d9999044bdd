import type { RequestHandler } from 'express';
import { scopes, type Scope } from '@mandate/contract';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
import { principalOf } from './request-scope.ts';
import { accessOf } from './route-of-request.ts';

/**
 * Whether the application was given the scope and its person may use it: scopes that reach beyond one person's own things
 * work for staff, and for an application that acts for itself, which only an administrator can register.
 */
export const may = (principal: Principal | undefined, scope: Scope): boolean =>
  principal !== undefined && principal.scopes.has(scope) && (!scopes[scope].admin || principal.user?.role !== 'customer');

/** Lets a request in that has one of the route's scopes; which objects it reaches is decided in the queries. */
export const authorize: RequestHandler = (req, _res, next) => {
  const access = accessOf(req);
  if (access === 'token') principalOf(req);
  else if (access !== 'public') requireScope(principalOf(req), ...access);
  next();
};

/** One of these scopes, and that the principal may use it; also for what an operation needs besides what its route declares. */
export function requireScope(principal: Principal, ...access: Scope[]): void {
  if (access.some((scope) => may(principal, scope))) return;
  if (access.some((scope) => principal.scopes.has(scope))) throw problem('forbidden', { detail: 'Only members of staff can do this.' });
  throw problem('insufficient_scope', {
    detail: `The access token lacks a scope: ${access.join(' or ')}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${access.join(' ')}"` },
  });
}
