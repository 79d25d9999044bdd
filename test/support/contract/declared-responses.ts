import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import { contract, contractV2, getRouteMetadata, problemCodesOfResponse, listRoutes } from '@mandate/contract';

/** Returns the operation ID, with the prefix `v2 ` for operations of version 2. */
export const operationName = (route: AppRoute): string =>
  `${route.path.startsWith('/api/v2/') ? 'v2 ' : ''}${getRouteMetadata(route).operationId}`;

/** Returns the name of a declared response, such as `orders.create 409 out_of_stock` or `orders.get 304`. */
export const responseName = (route: AppRoute, status: number | string, code?: string): string =>
  [operationName(route), status, ...(code === undefined ? [] : [code])].join(' ');

/** The routes that tests must cover: all routes of version 1, and the routes that version 2 changes. */
const routes = [...listRoutes(contract), ...listRoutes(contractV2.orders)];

/** The names of all declared responses: one per success status, and one per problem code. */
export const declaredResponseNames: readonly string[] = routes.flatMap((route) =>
  Object.entries(route.responses).flatMap(([status, response]) =>
    isAppRouteOtherResponse(response) && Number(status) >= 400
      ? problemCodesOfResponse(response).map((code) => responseName(route, status, code))
      : [responseName(route, status)],
  ),
);
