import { clientWith, type Client, type ClientOptions } from './core/client.ts';
import type { Middleware } from './core/middleware.ts';
import type { Resources as ChangedResources } from './generated/resources-v2.gen.ts';
import { routes as changedRoutes } from './generated/routes-v2.gen.ts';
import { routes } from './generated/routes.gen.ts';

export type * from './generated/resources-v2.gen.ts';

/** A client of version 2, a preview: what has changed since version 1, and everything else as it is there. */
export type ClientV2 = Omit<Client, keyof ChangedResources | 'use'> &
  ChangedResources & { readonly use: (middleware: Middleware) => ClientV2 };

/** A client of version 2 of one installation, where it is turned on: `client.orders.create({ shipping_method, ... })`. */
export function createClient(options: ClientOptions): ClientV2 {
  const table: Record<string, string> = {};
  for (const [operation, route] of Object.entries(routes)) table[operation] = route.replace('/api/v1/', '/api/v2/');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its routes and ChangedResources are written together from one document
  return clientWith(options, { ...table, ...changedRoutes }) as unknown as ClientV2;
}
