import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';
import { operationName } from './declared-responses.ts';

const schemaFields = (schema: unknown): Record<string, unknown> =>
  schema instanceof z.ZodObject ? z.record(z.unknown()).parse(schema.shape) : {};

const successBodySchema = ({ responses }: AppRoute): unknown => responses[200];

/** Whether an operation returns a list. */
export const returnsList = (route: AppRoute): boolean =>
  route.method === 'GET' &&
  (successBodySchema(route) instanceof z.ZodArray || schemaFields(successBodySchema(route))['data'] instanceof z.ZodArray);

/** Query parameters that select the next page, each with the response field that contains the value. */
const nextCursorFields = { cursor: 'next_cursor', after: 'next_after' } as const;
export type CursorParameter = keyof typeof nextCursorFields;
export const cursorParameter = ({ query }: AppRoute): CursorParameter => ('after' in schemaFields(query) ? 'after' : 'cursor');
export const nextCursorField = (cursor: CursorParameter): (typeof nextCursorFields)[CursorParameter] => nextCursorFields[cursor];

/** Returns the list operations that do not have all parts of pagination: `limit`, a cursor, `has_more` and the next cursor. */
export const findUnpaginatedLists = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(returnsList)
    .filter((route) => {
      const [query, body, cursor] = [schemaFields(route.query), schemaFields(successBodySchema(route)), cursorParameter(route)];
      return !('limit' in query && cursor in query && 'has_more' in body && nextCursorField(cursor) in body);
    })
    .map(operationName);

export const acceptsDryRun = ({ query }: AppRoute): boolean => 'dry_run' in schemaFields(query);

export const acceptsIfMatch = ({ headers }: AppRoute): boolean => 'if-match' in schemaFields(headers);

/** Returns the operations that accept `If-Match` although no operation returns the resource's ETag. */
export const findUnreadableEtags = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(acceptsIfMatch)
    .filter((route) => {
      const readsWithEtag = ({ method, path, headers, responses }: AppRoute): boolean =>
        method === 'GET' && path === route.path && 'if-none-match' in schemaFields(headers) && '304' in responses;
      return !routes.some(readsWithEtag);
    })
    .map(operationName);

/** Returns the operations that read one resource, such as `/payments/:payment_id`, although no operation lists the collection. */
export const findMissingCollections = (routes: readonly AppRoute[]): string[] =>
  routes
    .filter(({ method, path }) => method === 'GET' && /^\/api\/v\d+\/[\w-]+\/:\w+$/.test(path))
    .filter(({ path }) => !routes.some((route) => returnsList(route) && `${route.path}/` === path.replace(/:\w+$/, '')))
    .map(operationName);
