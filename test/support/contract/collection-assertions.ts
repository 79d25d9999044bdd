import type { AppRoute } from '@ts-rest/core';
import { getRouteMetadata } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { acceptsIfMatch, cursorOf, isList, nextOf } from './collection-rules.ts';
import type { Answer, Body, Mandate } from '../server/start-mandate.ts';
import { routeNamed, sendValid, type Valid } from './provoke-problems.ts';

type Prepared = {
  readonly mandate: () => Mandate;
  /** Makes a new request each time. */
  readonly validRequest: (operation: string) => Promise<Valid>;
};

const pagesWalked = 3;

/** What the contract promises of every list, and of every resource that has an ETag. */
export function collectionsAsDeclared(operations: readonly string[], { mandate, validRequest }: Prepared): void {
  const having = (property: (route: AppRoute) => boolean): string[] => operations.filter((operation) => property(routeNamed(operation)));
  const listed = ({ path, ...request }: Valid, query: string): Promise<Answer> =>
    sendValid(mandate(), { ...request, path: `${path}${path.includes('?') ? '&' : '?'}${query}` });

  test.each(having(isList))('%s: `limit` bounds each page, and the cursors lead through the whole list', async (operation) => {
    const request = await validRequest(operation);
    const cursor = cursorOf(routeNamed(operation));
    const next = nextOf(cursor);
    const whole = await listed(request, 'limit=100');
    const walked: Body[] = [];
    for (let query = 'limit=1', more = true; more && walked.length < pagesWalked;) {
      const { status, body } = await listed(request, query);
      expect([status, body.data.length <= 1]).toEqual([200, true]);
      walked.push(...body.data);
      more = body.has_more;
      query = `limit=1&${cursor}=${body[next]}`;
    }
    expect(walked.map(nameOf)).toEqual(whole.body.data.slice(0, pagesWalked).map(nameOf));
  });

  describe.each(having(acceptsIfMatch))('%s', (operation) => {
    test('accepts the ETag that reading the resource returned, and refuses another', async () => {
      const request = await validRequest(operation);
      const read = (): Promise<Answer> => mandate().call('GET', request.path, { token: request.token });
      // what `PUT` is about to create cannot be read before
      if ((await read()).status === 404) await sendValid(mandate(), request);
      const { status, headers } = await read();
      const etag = headers.get('etag') ?? '';
      expect([status, etag]).toEqual([200, expect.stringMatching(/^"[^"]+"$/)]);
      expect((await sendValid(mandate(), request, { 'if-match': '"another"' })).body.code).toBe('precondition_failed');
      expect((await sendValid(mandate(), request, { 'if-match': etag })).status).toBeLessThan(300);
    });
  });

  test.each(having((route) => getRouteMetadata(route).returnsEtag === true))(
    '%s: the created resource and each replay have its ETag',
    async (operation) => {
      const { path, ...request } = await validRequest(operation);
      const dry = await sendValid(mandate(), { ...request, path: `${path}?dry_run=true` });
      expect([dry.status, dry.headers.get('etag')]).toEqual([201, null]);
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

/** What tells the items of any list apart. */
const nameOf = ({ id, code, version }: Body): unknown => id ?? code ?? version;
