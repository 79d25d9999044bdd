import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Response } from 'express';
import { z } from 'zod';
import { problem } from '../problem-details/problem.ts';
import { principalIfAny } from '../request/request-context.ts';
import type { RoutedRequest } from '../request/matched-route.ts';

/** Where a page ends: the value of the sorted column in the last row, and its id to tell equal values apart. */
export type Position = readonly [value: string | number, id: number];

type PageQuery = { readonly limit: number; readonly cursor?: string | undefined };

type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };

const tagBytes = 16;
const content = z.tuple([z.literal(1), z.string(), z.union([z.string(), z.number()]), z.number().int()]);

/** Cursors are signed, so that nobody makes one up, and belong to one list: the same filters, sort and caller. */
export class Pages {
  readonly #key: KeyObject;

  constructor(key: Buffer) {
    // from bytes it would be made anew for every cursor, which takes longer than the signature
    this.#key = createSecretKey(key);
  }

  /** Where the request wants to go on; `undefined` on the first page. */
  positionOf(req: RoutedRequest, query: PageQuery): Position | undefined {
    if (query.cursor === undefined) return undefined;
    const [body = '', tag = ''] = query.cursor.split('.');
    // Compared as text: several texts of base64url decode to the same bytes.
    const [given, signature] = [Buffer.from(tag), Buffer.from(this.#sign(body))];
    if (given.length !== signature.length || !timingSafeEqual(given, signature)) throw refused('invalid_cursor');
    const [, list, value, id] = content.parse(JSON.parse(Buffer.from(body, 'base64url').toString()));
    if (list !== listOf(req, query)) throw refused('cursor_mismatch');
    return [value, id];
  }

  /** One page of the rows found, of which there are up to `limit + 1`; links to it and to the next go into the `Link` header (RFC 8288). */
  answer<Row, Item>(
    req: RoutedRequest,
    res: Response,
    query: PageQuery,
    rows: readonly Row[],
    toItem: (row: Row) => Item,
    positionOf: (row: Row) => Position,
  ): Page<Item> {
    const shown = rows.slice(0, query.limit);
    const last = shown.at(-1);
    const next = rows.length > query.limit && last !== undefined ? this.#cursor(req, query, positionOf(last)) : null;
    const links = [`<${linkTo(req, undefined)}>; rel="first"`, ...(next === null ? [] : [`<${linkTo(req, next)}>; rel="next"`])];
    res.append('Link', links).set('Cache-Control', 'no-store');
    return { data: shown.map(toItem), has_more: next !== null, next_cursor: next };
  }

  #cursor(req: RoutedRequest, query: PageQuery, [value, id]: Position): string {
    const body = Buffer.from(JSON.stringify([1, listOf(req, query), value, id])).toString('base64url');
    return `${body}.${this.#sign(body)}`;
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest().subarray(0, tagBytes).toString('base64url');
  }
}

/** Names one list of one caller; the size of a page may change on the way, and counting as well. */
function listOf(req: RoutedRequest, { limit: _limit, cursor: _cursor, ...filters }: PageQuery): string {
  const { include_total: _, ...rest } = { include_total: undefined, ...filters };
  const entries = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const principal = principalIfAny(req);
  const list = JSON.stringify([req.path, entries, principal?.clientId ?? null, principal?.user?.id ?? null]);
  return hash('sha256', list, 'base64url').slice(0, 22);
}

function linkTo(req: RoutedRequest, cursor: string | undefined): string {
  const [path = '', search = ''] = req.originalUrl.split('?', 2);
  const parameters = new URLSearchParams(search);
  parameters.delete('cursor');
  if (cursor !== undefined) parameters.set('cursor', cursor);
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

const refused = (code: 'invalid_cursor' | 'cursor_mismatch') =>
  problem(code, {
    detail:
      code === 'invalid_cursor'
        ? 'Send `next_cursor` exactly as the page before gave it.'
        : 'A cursor works only with the filters, the sort and the caller it was made for.',
    errors: [{ in: 'query', parameter: 'cursor', code, detail: 'Begin again without a cursor.' }],
  });
