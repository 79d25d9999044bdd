import type { AppRouter } from '@ts-rest/core';
import type { IRouter, RequestHandler } from 'express';
import { routesOf } from '@mandate/contract';
import { problem } from './problem.ts';

/** A known path with another method: 405 with what there is instead (RFC 9110 section 15.5.6); OPTIONS is answered. */
export function refuseOtherMethods(router: IRouter, contract: AppRouter): void {
  const byPath = Map.groupBy(routesOf(contract), (route) => route.path);
  for (const [path, routes] of byPath) {
    const methods = routes.map((route) => route.method);
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    router.all(path, (req, res) => {
      if (req.method === 'OPTIONS') return void res.status(204).set('Allow', allow).end();
      throw problem('method_not_allowed', { detail: `This path has ${allow}.`, headers: { Allow: allow } });
    });
  }
}

export const refuseUnknownPath: RequestHandler = () => {
  throw problem('route_not_found', { detail: 'There is nothing at this path. The paths are listed in /openapi.json.' });
};
