import { createClientWithRoutes, type Client, type ClientOptions } from './client/client.ts';
import type { Middleware } from './core/middleware.ts';
import { expandRouteTable } from './core/route-table.ts';
import type { Resources as ChangedResources } from './generated/resources-v2.gen.ts';
import { routes as changedRoutes } from './generated/routes-v2.gen.ts';
import { routes } from './generated/routes.gen.ts';

export type * from './generated/resources-v2.gen.ts';

/** A client for API version 2, which is a preview. Resources that version 2 does not change have the same types as in version 1. */
export type ClientV2 = Omit<Client, keyof ChangedResources | 'use'> &
  ChangedResources & { readonly use: (middleware: Middleware) => ClientV2 };

/** Creates a version 2 client for an installation that has version 2 enabled: `client.orders.create({ shipping_method, ... })`. */
export function createClient(options: ClientOptions): ClientV2 {
  const sameAsInVersion1 = expandRouteTable(routes).map((route) => ({ ...route, path: route.path.replace('/api/v1/', '/api/v2/') }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its routes and ChangedResources are generated from the same document
  return createClientWithRoutes(options, [...sameAsInVersion1, ...expandRouteTable(changedRoutes)]) as unknown as ClientV2;
}
