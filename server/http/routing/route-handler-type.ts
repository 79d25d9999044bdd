import type { AppRoute } from '@ts-rest/core';
import type { AppRouteImplementation } from '@ts-rest/express';

/** Handles one route of the contract. `request` has been validated. */
export type RouteHandler<Route extends AppRoute, Dependencies> = (
  dependencies: Dependencies,
  request: Parameters<AppRouteImplementation<Route>>[0],
) => ReturnType<AppRouteImplementation<Route>>;
