import type { AppRoute } from '@ts-rest/core';

/** Name and description of a resource in the API reference. The CLI also shows the description in its help. */
export type ResourceTag = { readonly name: string; readonly description: string };

/** Declares the routes of a resource, and adds the resource's name and description to the metadata of each route. */
export function defineResource<Routes extends Readonly<Record<string, AppRoute>>>(
  name: string,
  description: string,
  routes: Routes,
): Routes {
  const tag: ResourceTag = { name, description };
  const addTag = (route: AppRoute) => ({ ...route, metadata: { ...(isObject(route.metadata) && route.metadata), tag } });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of a route does not contain its tag
  return Object.fromEntries(Object.entries(routes).map(([key, route]) => [key, addTag(route)])) as Routes;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
