import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Response } from 'express';
import { z } from 'zod';
import { sha256 } from '../../crypto/sha256.ts';
import { createProblem } from '../problem-details/problem.ts';
import { findPrincipal } from '../request/request-context-principal-and-access-log.ts';
import type { MatchedRequest } from '../request/matched-route.ts';

/** Position of a page's last row. The position contains the value of the sort column and, as a tiebreaker, the ID. */
export type KeysetPosition = readonly [value: string | number, id: number];

type PageQuery = { readonly limit: number; readonly cursor?: string | undefined };

type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };

const signatureBytes = 16;
const cursorSchema = z.tuple([z.literal(1), z.string(), z.union([z.string(), z.number()]), z.number().int()]);

/** Keyset pagination. Cursors are signed to prevent forgery and bound to one list, that is, to its filters, sort order and caller. */
export class CursorPaginator {
  readonly #key: KeyObject;

  constructor(key: Buffer) {
    // Creating the key object for each cursor would take longer than computing the signature.
    this.#key = createSecretKey(key);
  }

  /** Decodes the request's cursor; returns `undefined` for the first page. */
  decodeCursor(req: MatchedRequest, query: PageQuery): KeysetPosition | undefined {
    if (query.cursor === undefined) return undefined;
    const [body = '', encodedSignature = ''] = query.cursor.split('.');
    // The encoded strings are compared, because different base64url strings can decode to the same bytes.
    const [receivedSignature, signature] = [Buffer.from(encodedSignature), Buffer.from(this.#sign(body))];
    if (receivedSignature.length !== signature.length || !timingSafeEqual(receivedSignature, signature))
      throw cursorProblem('invalid_cursor');
    const [, list, value, id] = cursorSchema.parse(JSON.parse(Buffer.from(body, 'base64url').toString()));
    if (list !== hashListParameters(req, query)) throw cursorProblem('cursor_mismatch');
    return [value, id];
  }

  /** Builds one page from up to `limit + 1` rows. Adds links to the first and the next page to the `Link` header (RFC 8288). */
  respondWithPage<Row, Item>(
    req: MatchedRequest,
    res: Response,
    query: PageQuery,
    rows: readonly Row[],
    toItem: (row: Row) => Item,
    positionOf: (row: Row) => KeysetPosition,
  ): Page<Item> {
    const items = rows.slice(0, query.limit);
    const last = items.at(-1);
    const next = rows.length > query.limit && last !== undefined ? this.#encodeCursor(req, query, positionOf(last)) : null;
    const links = [`<${pageUrl(req, undefined)}>; rel="first"`, ...(next === null ? [] : [`<${pageUrl(req, next)}>; rel="next"`])];
    res.append('Link', links).set('Cache-Control', 'no-store');
    return { data: items.map(toItem), has_more: next !== null, next_cursor: next };
  }

  #encodeCursor(req: MatchedRequest, query: PageQuery, [value, id]: KeysetPosition): string {
    const body = Buffer.from(JSON.stringify([1, hashListParameters(req, query), value, id])).toString('base64url');
    return `${body}.${this.#sign(body)}`;
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest().subarray(0, signatureBytes).toString('base64url');
  }
}

/** Returns a hash that identifies the caller and the list. Page size and `include_total` can differ between pages. */
function hashListParameters(req: MatchedRequest, { limit: _limit, cursor: _cursor, ...filters }: PageQuery): string {
  const { include_total: _, ...rest } = { include_total: undefined, ...filters };
  const entries = Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const principal = findPrincipal(req);
  const list = JSON.stringify([req.path, entries, principal?.clientId ?? null, principal?.user?.id ?? null]);
  return sha256(list, 'base64url').slice(0, 22);
}

function pageUrl(req: MatchedRequest, cursor: string | undefined): string {
  const [path = '', search = ''] = req.originalUrl.split('?', 2);
  const parameters = new URLSearchParams(search);
  parameters.delete('cursor');
  if (cursor !== undefined) parameters.set('cursor', cursor);
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

const cursorProblem = (code: 'invalid_cursor' | 'cursor_mismatch') =>
  createProblem(code, {
    detail:
      code === 'invalid_cursor'
        ? 'Send `next_cursor` exactly as the previous page returned it.'
        : 'A cursor is valid only for the same caller, filters and sort order.',
    errors: [{ in: 'query', parameter: 'cursor', code, detail: 'Start again without a cursor.' }],
  });
