import type { AppRoute } from '@ts-rest/core';
import type { Request } from 'express';
import { getRouteMetadata, type RouteMetadata } from '@mandate/contract';

/**
 * A request that matched a route. This type picks members of Express's request type, because ts-rest narrows `query` and `body` in a way
 * that is incompatible with Express's type.
 */
export type MatchedRequest = Pick<Request, 'get' | 'path' | 'originalUrl'> & {
  readonly body?: unknown;
  readonly query?: unknown;
  /** Set by ts-rest before the route's middleware runs. */
  readonly tsRestRoute?: AppRoute;
};

/** Returns the contract route that the request matched. */
export function getMatchedRoute({ tsRestRoute }: MatchedRequest): AppRoute {
  if (!tsRestRoute) throw new Error('the request has no matched route');
  return tsRestRoute;
}

export const getRequiredAccessOfMatchedRoute = (req: MatchedRequest): RouteMetadata['access'] =>
  getRouteMetadata(getMatchedRoute(req)).access;
