import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';
import { operationOf } from './declared-responses.ts';

const fieldsOf = (schema: unknown): Record<string, unknown> =>
  schema instanceof z.ZodObject ? z.record(z.unknown()).parse(schema.shape) : {};

const bodyOf = ({ responses }: AppRoute): unknown => responses[200];

/** Whether the operation returns a list. */
export const isList = (route: AppRoute): boolean =>
  route.method === 'GET' && (bodyOf(route) instanceof z.ZodArray || fieldsOf(bodyOf(route))['data'] instanceof z.ZodArray);

/** The query parameter that leads to the next page, and the field of a page that has its value. */
const cursors = { cursor: 'next_cursor', after: 'next_after' } as const;
export type Cursor = keyof typeof cursors;
export const cursorOf = ({ query }: AppRoute): Cursor => ('after' in fieldsOf(query) ? 'after' : 'cursor');
export const nextOf = (cursor: Cursor): (typeof cursors)[Cursor] => cursors[cursor];

/** The operations that return a list without pagination: without `limit` and a cursor, or without `has_more` and the next cursor. */
export const unpaginatedLists = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(isList)
    .filter((route) => {
      const [query, body, cursor] = [fieldsOf(route.query), fieldsOf(bodyOf(route)), cursorOf(route)];
      return !('limit' in query && cursor in query && 'has_more' in body && nextOf(cursor) in body);
    })
    .map(operationOf);

export const acceptsIfMatch = ({ headers }: AppRoute): boolean => 'if-match' in fieldsOf(headers);

/** The operations that accept `If-Match` while no operation reads the resource and returns its ETag. */
export const unreadableEtags = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(acceptsIfMatch)
    .filter((route) => {
      const isRead = ({ method, path, headers, responses }: AppRoute): boolean =>
        method === 'GET' && path === route.path && 'if-none-match' in fieldsOf(headers) && '304' in responses;
      return !routes.some(isRead);
    })
    .map(operationOf);

/** Collections of the resources that can be read one by one: `/payments` of `/payments/:payment_id`. */
export const missingCollections = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(({ method, path }) => method === 'GET' && /^\/api\/v\d+\/[\w-]+\/:\w+$/.test(path))
    .filter(({ path }) => !routes.some((route) => isList(route) && `${route.path}/` === path.replace(/:\w+$/, '')))
    .map(operationOf);
