import type { AppRouter } from '@ts-rest/core';
import type { IRouter, RequestHandler } from 'express';
import { listRoutes } from '@mandate/contract';
import { createProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';

/** Responds to unsupported methods on known paths with 405 and an `Allow` header (RFC 9110 section 15.5.6), and to OPTIONS with 204. */
export function addMethodNotAllowedAndOptionsHandlers(
  router: IRouter,
  contract: AppRouter,
  includesPath: (path: string) => boolean = () => true,
): void {
  const byPath = Map.groupBy(listRoutes(contract), (route) => route.path);
  for (const [path, routes] of byPath) {
    if (!includesPath(path)) continue;
    const methods = routes.map((route): string => route.method);
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    const allow = allowed.join(', ');
    router.all(path, (req, res, next) => {
      if (req.method === 'OPTIONS') return void res.status(204).set('Allow', allow).end();
      if (allowed.includes(req.method)) return next();
      throw createProblem('method_not_allowed', {
        detail: translatable`This path supports ${{ methods: allow }}.`,
        headers: { Allow: allow },
      });
    });
  }
}

/**
 * Returns a function that checks whether a path also matches another route. For example, `/users/me` also matches `/users/:user_id`. An
 * unsupported method on such a path must be rejected before the router reaches the other route.
 */
export function createMultipleRouteMatchCheck(contract: AppRouter): (path: string) => boolean {
  const paths = [...new Set(listRoutes(contract).map((route) => route.path))];
  const patterns = paths.map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`) }));
  return (path) => patterns.some((other) => other.path !== path && !path.includes(':') && other.pattern.test(path));
}

export const rejectUnknownPath: RequestHandler = () => {
  throw createProblem('route_not_found', { detail: 'No operation has this path. /openapi.json lists all paths.' });
};
