import { isAppRouteOtherResponse, type AppRoute } from '@ts-rest/core';
import { contract, contractV2, getRouteMetadata, problemCodesOfResponse, listRoutes } from '@mandate/contract';

/** What an operation is called here: as in its document, and those of the next version with its name before it. */
export const operationOf = (route: AppRoute): string =>
  `${route.path.startsWith('/api/v2/') ? 'v2 ' : ''}${getRouteMetadata(route).operationId}`;

/** One of the answers an operation declares: `orders.create 409 out_of_stock`, `orders.get 304`. */
export const answerName = (route: AppRoute, status: number | string, code?: string): string =>
  [operationOf(route), status, ...(code === undefined ? [] : [code])].join(' ');

/** The routes whose answers tests have to see: all of version 1, and of version 2 what is written anew. */
const routes = [...listRoutes(contract), ...listRoutes(contractV2.orders)];

/** Every answer that an operation declares: each status, and of a failure each code. */
export const declaredAnswers: readonly string[] = routes.flatMap((route) =>
  Object.entries(route.responses).flatMap(([status, response]) =>
    isAppRouteOtherResponse(response) && Number(status) >= 400
      ? problemCodesOfResponse(response).map((code) => answerName(route, status, code))
      : [answerName(route, status)],
  ),
);
