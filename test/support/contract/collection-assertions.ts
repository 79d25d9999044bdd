import type { AppRoute } from '@ts-rest/core';
import { getRouteMetadata } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { acceptsIfMatch, cursorOf, isList, nextOf } from './collection-rules.ts';
import type { Answer, Body, Mandate } from '../server/start-mandate.ts';
import { routeNamed, sendValid, type Valid } from './provoke-problems.ts';

type CollectionTestOptions = {
  readonly mandate: () => Mandate;
  /** Returns a new request at every call. */
  readonly validRequest: (operation: string) => Promise<Valid>;
};

const maxPages = 3;

/** Defines the tests for all lists and for all resources with an ETag. */
export function collectionsAsDeclared(operations: readonly string[], { mandate, validRequest }: CollectionTestOptions): void {
  const operationsWith = (property: (route: AppRoute) => boolean): string[] =>
    operations.filter((operation) => property(routeNamed(operation)));
  const sendListRequest = ({ path, ...request }: Valid, query: string): Promise<Answer> =>
    sendValid(mandate(), { ...request, path: `${path}${path.includes('?') ? '&' : '?'}${query}` });

  test.each(operationsWith(isList))('%s: `limit` bounds each page, and the cursors reach every item of the list', async (operation) => {
    const request = await validRequest(operation);
    const cursor = cursorOf(routeNamed(operation));
    const next = nextOf(cursor);
    const allItems = await sendListRequest(request, 'limit=100');
    const items: Body[] = [];
    for (let query = 'limit=1', hasMore = true; hasMore && items.length < maxPages;) {
      const { status, body } = await sendListRequest(request, query);
      expect([status, body.data.length <= 1]).toEqual([200, true]);
      items.push(...body.data);
      hasMore = body.has_more;
      query = `limit=1&${cursor}=${body[next]}`;
    }
    expect(items.map(itemIdentifier)).toEqual(allItems.body.data.slice(0, maxPages).map(itemIdentifier));
  });

  describe.each(operationsWith(acceptsIfMatch))('%s', (operation) => {
    test('accepts the current ETag of the resource and rejects a different ETag', async () => {
      const request = await validRequest(operation);
      const read = (): Promise<Answer> => mandate().call('GET', request.path, { token: request.token });
      // `PUT` creates the resource, so the first read can return 404
      if ((await read()).status === 404) await sendValid(mandate(), request);
      const { status, headers } = await read();
      const etag = headers.get('etag') ?? '';
      expect([status, etag]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)]);
      expect((await sendValid(mandate(), request, { 'if-match': '"another"' })).body.code).toBe('precondition_failed');
      expect((await sendValid(mandate(), request, { 'if-match': etag })).status).toBeLessThan(300);
    });
  });

  test.each(operationsWith((route) => getRouteMetadata(route).returnsEtag === true))(
    '%s: the response that creates the resource and its replay contain the ETag',
    async (operation) => {
      const { path, ...request } = await validRequest(operation);
      const dryRun = await sendValid(mandate(), { ...request, path: `${path}?dry_run=true` });
      expect([dryRun.status, dryRun.headers.get('etag')]).toEqual([201, null]);
      const key = { 'idempotency-key': `etag-${operation.replaceAll(' ', '-')}` };
      const created = await sendValid(mandate(), { ...request, path }, key);
      const replayed = await sendValid(mandate(), { ...request, path }, key);
      const read = await mandate().call('GET', created.headers.get('location') ?? '', { token: request.token });
      expect([created.status, created.headers.get('etag')]).toEqual([201, expect.stringMatching(/^"[^"]+"$/)]);
      const etags = [replayed, read].map(({ headers }) => headers.get('etag'));
      expect([replayed.headers.get('idempotent-replayed'), ...etags]).toEqual(['true', ...etags.map(() => created.headers.get('etag'))]);
      expect(replayed.text).toBe(created.text);
      expect(read.body).toEqual(created.body);
    },
  );
}

/** Returns the field that identifies an item of any list. */
const itemIdentifier = ({ id, code, version }: Body): unknown => id ?? code ?? version;
