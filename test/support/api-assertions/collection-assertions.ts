import type { AppRoute } from '@ts-rest/core';
import { getRouteMetadata } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { acceptsDryRun, acceptsIfMatch, cursorParameter, returnsList, nextCursorField } from '../contract/collection-rules.ts';
import type { ApiResponse, ApiServer, JsonBody } from '../server/start-mandate.ts';
import { findRoute, sendValidRequest, type ValidRequest } from './provoke-problems.ts';

type CollectionTestOptions = {
  readonly mandate: () => ApiServer;
  /** Returns a new request on every call. */
  readonly validRequest: (operation: string) => Promise<ValidRequest>;
};

const maxPages = 3;

/** Defines the tests for all lists and for all resources with an ETag. */
export function testCollectionOperations(operations: readonly string[], { mandate, validRequest }: CollectionTestOptions): void {
  const operationsWith = (property: (route: AppRoute) => boolean): string[] =>
    operations.filter((operation) => property(findRoute(operation)));
  const sendListRequest = ({ path, ...request }: ValidRequest, query: string): Promise<ApiResponse> =>
    sendValidRequest(mandate(), { ...request, path: `${path}${path.includes('?') ? '&' : '?'}${query}` });

  test.each(operationsWith(returnsList))(
    '%s: `limit` bounds each page, and the cursors reach every item of the list',
    async (operation) => {
      const request = await validRequest(operation);
      const cursor = cursorParameter(findRoute(operation));
      const next = nextCursorField(cursor);
      const allItems = await sendListRequest(request, 'limit=100');
      const items: JsonBody[] = [];
      for (let query = 'limit=1', hasMore = true; hasMore && items.length < maxPages;) {
        const { status, body } = await sendListRequest(request, query);
        expect([status, body.data.length <= 1]).toEqual([200, true]);
        items.push(...body.data);
        hasMore = body.has_more;
        query = `limit=1&${cursor}=${body[next]}`;
      }
      expect(items.map(itemIdentifier)).toEqual(allItems.body.data.slice(0, maxPages).map(itemIdentifier));
    },
  );

  describe.each(operationsWith(acceptsIfMatch))('%s', (operation) => {
    test('accepts the current ETag of the resource and rejects a different ETag', async () => {
      const request = await validRequest(operation);
      const read = (): Promise<ApiResponse> => mandate().callApi('GET', request.path, { token: request.token });
      // `PUT` creates the resource, so the first read can return 404
      if ((await read()).status === 404) await sendValidRequest(mandate(), request);
      const { status, headers } = await read();
      const etag = headers.get('etag') ?? '';
      expect([status, etag]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)]);
      expect((await sendValidRequest(mandate(), request, { 'if-match': '"another"' })).body.code).toBe('precondition_failed');
      expect((await sendValidRequest(mandate(), request, { 'if-match': etag })).status).toBeLessThan(300);
    });
  });

  test.each(operationsWith((route) => getRouteMetadata(route).returnsEtag === true))(
    '%s: the response that creates the resource and its replay contain the ETag',
    async (operation) => {
      const { path, ...request } = await validRequest(operation);
      const dryRunPaths = acceptsDryRun(findRoute(operation)) ? [`${path}?dry_run=true`] : [];
      const dryRuns = await Promise.all(dryRunPaths.map((dryRunPath) => sendValidRequest(mandate(), { ...request, path: dryRunPath })));
      expect(dryRuns.map(({ status, headers }) => [status, headers.get('etag')])).toEqual(dryRunPaths.map(() => [201, null]));
      const key = { 'idempotency-key': `etag-${operation.replaceAll(' ', '-')}` };
      const created = await sendValidRequest(mandate(), { ...request, path }, key);
      const replayed = await sendValidRequest(mandate(), { ...request, path }, key);
      const read = await mandate().callApi('GET', created.headers.get('location') ?? '', { token: request.token });
      expect([created.status, created.headers.get('etag')]).toEqual([201, expect.stringMatching(/^"[^"]+"$/)]);
      const etags = [replayed, read].map(({ headers }) => headers.get('etag'));
      expect([replayed.headers.get('idempotent-replayed'), ...etags]).toEqual(['true', ...etags.map(() => created.headers.get('etag'))]);
      expect(replayed.text).toBe(created.text);
      expect(read.body).toEqual(created.body);
    },
  );
}

/** Returns the field that identifies a list item. */
const itemIdentifier = ({ id, code, version }: JsonBody): unknown => id ?? code ?? version;
