import type { AppRoute } from '@ts-rest/core';
import type { Request } from 'express';
import { metadataOf, type RouteMetadata } from '@mandate/contract';

/** A request that has met a route. Not express' own type: ts-rest narrows query and body, and then it is none any more. */
export type RoutedRequest = Pick<Request, 'get' | 'path' | 'originalUrl'> & {
  readonly body?: unknown;
  readonly query?: unknown;
  /** ts-rest puts it here before any middleware of the route runs. */
  readonly tsRestRoute?: AppRoute;
};

/** The contract's route that this request has met. */
export function routeOf({ tsRestRoute }: RoutedRequest): AppRoute {
  if (!tsRestRoute) throw new Error('a request without its route');
  return tsRestRoute;
}

export const accessOf = (req: RoutedRequest): RouteMetadata['access'] => metadataOf(routeOf(req)).access;
