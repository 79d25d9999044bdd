import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';
import { operationOf } from './declared-responses.ts';

const schemaFields = (schema: unknown): Record<string, unknown> =>
  schema instanceof z.ZodObject ? z.record(z.unknown()).parse(schema.shape) : {};

const successBodySchema = ({ responses }: AppRoute): unknown => responses[200];

/** Whether the operation returns a list. */
export const isList = (route: AppRoute): boolean =>
  route.method === 'GET' &&
  (successBodySchema(route) instanceof z.ZodArray || schemaFields(successBodySchema(route))['data'] instanceof z.ZodArray);

/** Query parameters that select the next page, each with the response field that contains the value. */
const nextCursorFields = { cursor: 'next_cursor', after: 'next_after' } as const;
export type Cursor = keyof typeof nextCursorFields;
export const cursorOf = ({ query }: AppRoute): Cursor => ('after' in schemaFields(query) ? 'after' : 'cursor');
export const nextOf = (cursor: Cursor): (typeof nextCursorFields)[Cursor] => nextCursorFields[cursor];

/** Returns the operations that return a list without full pagination: `limit`, a cursor, `has_more` and the next cursor. */
export const unpaginatedLists = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(isList)
    .filter((route) => {
      const [query, body, cursor] = [schemaFields(route.query), schemaFields(successBodySchema(route)), cursorOf(route)];
      return !('limit' in query && cursor in query && 'has_more' in body && nextOf(cursor) in body);
    })
    .map(operationOf);

export const acceptsIfMatch = ({ headers }: AppRoute): boolean => 'if-match' in schemaFields(headers);

/** Returns the operations that accept `If-Match` although no operation returns the ETag of the resource. */
export const unreadableEtags = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(acceptsIfMatch)
    .filter((route) => {
      const readsWithEtag = ({ method, path, headers, responses }: AppRoute): boolean =>
        method === 'GET' && path === route.path && 'if-none-match' in schemaFields(headers) && '304' in responses;
      return !routes.some(readsWithEtag);
    })
    .map(operationOf);

/** Returns the operations that read one resource, such as `/payments/:payment_id`, while no operation lists the collection. */
export const missingCollections = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(({ method, path }) => method === 'GET' && /^\/api\/v\d+\/[\w-]+\/:\w+$/.test(path))
    .filter(({ path }) => !routes.some((route) => isList(route) && `${route.path}/` === path.replace(/:\w+$/, '')))
    .map(operationOf);
