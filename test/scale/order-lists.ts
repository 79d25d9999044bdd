/**
 * `npm run scale -- 10000000` fills a PostgreSQL database with the given number of orders, and reads the first page and a deep page of
 * the order list over HTTP for each combination of filters and sort order, with all request checks enabled. The deep page is page 250,000
 * or, for shorter lists, the page after the first 90% of the orders. Prints a Markdown table.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { sql } from 'kysely';
import { z } from 'zod';
import { scopeNames } from '@mandate/contract';
import { createApp } from '../../server/app/app.ts';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { buildListOrdersQuery } from '../../server/orders/list-orders.sql.ts';
import { deriveKeys } from '../../server/crypto/derived-keys-and-server-secret.ts';
import { obtainClientToken, createConfidentialClient } from '../support/oauth/oauth-flow.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { deepPosition, type List, moveCursor, pageSize, type Position, orderSort } from './deep-page.ts';
import { fillOrders } from './fill-orders.ts';

const repeats = 60;

type Shape = List & { readonly query: string };

const shapes = (largestCustomerId: number): Shape[] => {
  const allUsers = { requiredClientId: undefined, userId: undefined };
  const window = { createdAtGte: '2020-02-01T00:00:00.000Z', createdAtLt: '2021-02-01T00:00:00.000Z' };
  const windowQuery = `created_at_gte=${window.createdAtGte}&created_at_lt=${window.createdAtLt}`;
  return [
    { query: '', filters: allUsers },
    { query: 'sort=created_at', filters: allUsers, ascending: true },
    { query: 'status=delivered', filters: { ...allUsers, status: ['delivered'] } },
    { query: 'status=canceled', filters: { ...allUsers, status: ['canceled'] } },
    { query: 'status=pending,paid', filters: { ...allUsers, status: ['pending', 'paid'] } },
    { query: `status=pending,paid&${windowQuery}`, filters: { ...allUsers, ...window, status: ['pending', 'paid'] } },
    { query: windowQuery, filters: { ...allUsers, ...window } },
    { query: 'payment_status=refunded', filters: { ...allUsers, paymentStatus: ['refunded'] } },
    { query: 'payment_status=unpaid,paid', filters: { ...allUsers, paymentStatus: ['unpaid', 'paid'] } },
    { query: 'fulfillment_status=partial', filters: { ...allUsers, fulfillmentStatus: ['partial'] } },
    { query: 'fulfillment_status=shipped', filters: { ...allUsers, fulfillmentStatus: ['shipped'] } },
    { query: 'client_id=nobody', filters: { ...allUsers, clientId: 'nobody' } },
    { query: 'sort=-updated_at', filters: allUsers, by: 'updated_at' },
    {
      query: 'updated_at_gte=2026-02-01T00:00:00.000Z',
      filters: { ...allUsers, updatedAtGte: '2026-02-01T00:00:00.000Z' },
      by: 'updated_at',
      ascending: true,
    },
    { query: 'reference=R-1000', filters: { ...allUsers, reference: 'R-1000' } },
    { query: `user_id=${largestCustomerId}`, filters: { requiredClientId: undefined, userId: largestCustomerId } },
    {
      query: `user_id=${largestCustomerId}&status=canceled`,
      filters: { requiredClientId: undefined, userId: largestCustomerId, status: ['canceled'] },
    },
    {
      query: `user_id=${largestCustomerId}&status=pending&${windowQuery}`,
      filters: { requiredClientId: undefined, userId: largestCustomerId, ...window, status: ['pending'] },
    },
  ];
};

type MeasuredServer = { readonly origin: string; readonly db: Database; readonly token: string };

async function measure(mandate: MeasuredServer, shape: Shape): Promise<string> {
  const path = `/api/v1/orders?${shape.query}`;
  const first = await medianMs(mandate, path);
  const deep = await deepPosition(mandate.db, shape);
  const response = await fetch(`${mandate.origin}${path}`, { headers: { authorization: `Bearer ${mandate.token}` } });
  const { next_cursor: cursor } = z.object({ next_cursor: z.string().nullable() }).parse(await response.json());
  if (!deep || cursor === null) return row(shape, first, undefined, await plan(mandate.db, shape, undefined));
  const deepPageMs = await medianMs(mandate, `${path}&cursor=${moveCursor(cursor, deep.position, keys)}`);
  return row(shape, first, { ms: deepPageMs, page: deep.page }, await plan(mandate.db, shape, deep.position));
}

const row = ({ query }: Shape, first: number, deep: { ms: number; page: number } | undefined, access: string): string =>
  [
    '',
    `\`${query || '(none)'}\``,
    first.toFixed(2),
    deep ? `${deep.ms.toFixed(2)} (page ${deep.page.toLocaleString('en')})` : 'one page',
    deep ? (deep.ms / first).toFixed(2) : '',
    access,
    '',
  ]
    .join(' | ')
    .trim();

async function medianMs({ origin, token }: MeasuredServer, path: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < repeats; i += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b)[repeats / 2] ?? 0;
}

/** Returns the indexes that the query plan uses, and the number of blocks read. */
async function plan(db: Database, shape: Shape, position: Position | undefined): Promise<string> {
  const query = buildListOrdersQuery(shape.filters, { sort: orderSort(shape), position, limit: pageSize });
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain (analyze, buffers) ${query}`.execute(db.em.fork().getKysely());
  const text = rows.map((line) => line['QUERY PLAN']).join('\n');
  const indexes = new Set(
    [...text.matchAll(/Index (?:Only )?Scan (?:Backward )?using (\w+)|Bitmap Index Scan on (\w+)/g)].map(([, a, b]) => a ?? b),
  );
  const scans = /Seq Scan on orders/.test(text) ? ', **sequential scan**' : '';
  return `${[...indexes].join(', ')}${scans}; ${/Buffers: shared hit=(\d+)/.exec(text)?.[1] ?? 0} blocks`;
}

const keys = deriveKeys('a secret that only this measurement uses');
const count = Number(process.argv[2] ?? 10_000_000);
const server = await startPostgresql(await findPostgresql());
try {
  const db = await openDatabaseWithoutMigrating(server.url, { timeouts: 'none' });
  await migrate(db);
  const { largestCustomerId } = await fillOrders(db.em.fork(), count, (done) =>
    process.stderr.write(`\r${done.toLocaleString('en')} orders`),
  );
  const http = createServer((req, res) => void app(req, res));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = z.object({ port: z.number() }).parse(http.address());
  const origin = `http://localhost:${port}`;
  const rateLimits = { default: 1_000_000, apiKey: 1_000_000, ip: 1_000_000, monthly: 1_000_000 };
  const app = await createApp({ db, issuer: origin, keys, log: createLogger(false), rateLimits });
  const token = await obtainClientToken(origin, await createConfidentialClient(db, scopeNames), scopeNames);
  const lines = [`| filters and sort | first page, ms | deep page, ms | ratio | plan of the deep page |`, '|---|---|---|---|---|'];
  for (const shape of shapes(largestCustomerId)) lines.push(await measure({ origin, db, token }, shape));
  process.stdout.write(`\n${count.toLocaleString('en')} orders\n\n${lines.join('\n')}\n`);
  http.close();
  http.closeAllConnections();
  await db.close();
} finally {
  await server.stop();
}
