/**
 * `npm run scale:statistics -- 10000000` fills a PostgreSQL database with ten million orders from two years, each with two lines for two of
 * 2,000 products, and prints a Markdown table with the duration and the CPU time of each statistics query. Other programs affect the CPU
 * time less than the duration. The program also prints the durations of the three slowest statistics over HTTP, of a rebuild, and of adding
 * 5,000 changes to the sums. The optional second argument is the URL of a PostgreSQL database on this machine. The program then fills this
 * database only if it contains no orders, and does not delete it, so that later runs only measure.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { z } from 'zod';
import { scopeNames } from '@mandate/contract';
import { createApp } from '../../server/app/app.ts';
import { deriveKeys } from '../../server/crypto/derived-keys-and-server-secret.ts';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import type { Database, EntityManager } from '../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import {
  queryStatisticsPerClientApplication,
  addRecordedChangesToOrderStatistics,
  rebuildOrderStatistics,
} from '../../server/statistics/query-update-and-rebuild-statistics.ts';
import {
  readOrderStatistics,
  readBestSellingLowStockAndUnsoldProducts,
  type OrderStatisticsQuery,
} from '../../server/statistics/read-order-and-product-statistics.ts';
import { firstDayOfPreviousPeriod } from '../../server/statistics/resolve-statistics-period.ts';
import { createConfidentialClient, obtainClientToken } from '../support/oauth/oauth-flow.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';

const count = Number(process.argv[2] ?? 10_000_000);
const batch = 250_000;
const repeats = 9;
const firstSecond = Date.parse('2024-01-01T00:00:00Z') / 1000;
const totalSeconds = 2 * 365 * 86_400;

const insertOrders = `
  insert into orders (user_id, client_id, status, payment_status, fulfillment_status, currency, subtotal, shipping_total, tax_total, total,
                      item_count, delivery, created_at, updated_at, paid_at)
  select (select min(id) from users), 'application-' || n % 20, status, case status when 'canceled' then 'unpaid' else 'paid' end,
         case status when 'delivered' then 'delivered' else 'unfulfilled' end, 'EUR', 1500, 0, 0, 1500, 2,
         '{"method":"pickup","recipient_name":"A"}', at, at, case status when 'canceled' then null else at + interval '90 seconds' end
    from (select n, case when n % 20 = 3 then 'canceled' when n % 20 = 4 then 'paid' else 'delivered' end as status,
                 to_timestamp(?::float8 + n * ?::float8) as at from generate_series(?::bigint, ?::bigint) n) o`;
// The first product occurs in many orders, and the last products occur in few orders.
const insertLines = `
  insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
  select o.id, line, p.id, 'SKU', 'Product', 500, line, 0, 0, 500 * line
    from orders o cross join generate_series(1, 2) line
    join products p on p.sku = 'SKU-' || (1 + floor(1999 * power((o.id * 7919 * line % 10007) / 10007.0, 2)))::int
   where o.id > ?`;

async function fill(em: EntityManager): Promise<void> {
  await em.execute(`insert into users (name, email) values ('Anna', 'anna@example.com')`);
  await em.execute(`insert into products (sku, name, category, price, currency, status)
    select 'SKU-' || n, 'Product ' || n, 'category-' || n % 30, 500, 'EUR', 'active' from generate_series(1, 2000) n`);
  await em.begin();
  const indexes = await dropSecondaryIndexes(em);
  // The orders are inserted without triggers, because the statistics are calculated afterwards.
  await em.execute(`set local session_replication_role = 'replica'`);
  for (let from = 1; from <= count; from += batch) {
    const [last] = await em.execute<{ id: number }[]>('select coalesce(max(id), 0) as id from orders');
    await em.execute(insertOrders, [firstSecond, totalSeconds / count, from, Math.min(from + batch - 1, count)]);
    await em.execute(insertLines, [last?.id]);
    process.stderr.write(`\r${(from + batch - 1).toLocaleString('en')} orders`);
  }
  process.stderr.write('\nindexes\n');
  for (const definition of indexes) await em.execute(definition);
  await em.commit();
  for (const table of ['orders', 'order_items']) await em.execute(`vacuum analyze ${table}`);
}

/** Drops the indexes that only slow down the inserts, and returns the statements that recreate the indexes. */
async function dropSecondaryIndexes(em: EntityManager): Promise<string[]> {
  const indexes = await em.execute<{ name: string; definition: string }[]>(
    `select x.indexrelid::regclass::text as name, pg_get_indexdef(x.indexrelid) as definition from pg_index x
      where x.indrelid in ('orders'::regclass, 'order_items'::regclass) and not x.indisunique
        and not exists (select 1 from pg_constraint c where c.conindid = x.indexrelid)`,
  );
  for (const { name } of indexes) await em.execute(`drop index ${name}`);
  return indexes.map(({ definition }) => definition);
}

async function durationMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;

/** Returns the CPU time of a process in milliseconds. Works only on Linux. */
async function readCpuMs(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
}

type Query = { readonly name: string; readonly path: string; readonly run: (em: EntityManager) => Promise<unknown> };
type Measurement = { readonly query: Query; readonly medianMs: number; readonly maxMs: number; readonly cpuMs: number };

async function measure(em: EntityManager, query: Query): Promise<Measurement> {
  const durations: number[] = [];
  const cpu: number[] = [];
  await em.fork().transactional(async (transaction) => {
    const [backend] = await transaction.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
    const pid = backend?.pid ?? NaN;
    for (let i = 0; i < repeats; i += 1) {
      const before = await readCpuMs(pid);
      durations.push(await durationMs(() => query.run(transaction)));
      cpu.push((await readCpuMs(pid)) - before);
    }
  });
  const measurement = { query, medianMs: median(durations), maxMs: Math.max(...durations), cpuMs: median(cpu) };
  process.stderr.write(`${formatRow(measurement)}\n`);
  return measurement;
}

const formatRow = ({ query: { name }, medianMs, maxMs, cpuMs }: Measurement): string =>
  `| ${[name, ...[medianMs, maxMs, cpuMs].map((ms) => ms.toFixed(0))].join(' | ')} |`;

const newYork = 'America/New_York';
const ranges = [
  { name: '30 days by day', interval: 'day', from: '2025-11-01', to: '2025-11-30', timeZone: newYork },
  { name: '366 days by day', interval: 'day', from: '2024-12-26', to: '2025-12-26', timeZone: newYork },
  { name: '366 days by day, Chatham Islands', interval: 'day', from: '2024-12-26', to: '2025-12-26', timeZone: 'Pacific/Chatham' },
  { name: '7 days by hour', interval: 'hour', from: '2025-11-01', to: '2025-11-07', timeZone: newYork },
  { name: '31 days by hour', interval: 'hour', from: '2025-10-14', to: '2025-11-13', timeZone: newYork },
  { name: '31 days by hour, Nepal', interval: 'hour', from: '2025-10-14', to: '2025-11-13', timeZone: 'Asia/Kathmandu' },
  { name: 'two years by week', interval: 'week', from: '2023-12-26', to: '2025-12-27', timeZone: newYork },
  { name: 'two years by month', interval: 'month', from: '2023-12-26', to: '2025-12-27', timeZone: newYork },
] as const;

type Range = (typeof ranges)[number];
const currency = 'EUR';

function orderQuery({ name, timeZone, ...range }: Range, groupBy: OrderStatisticsQuery['groupBy'], limit: number): Query {
  const parameters = { ...range, timeZone, groupBy, currency, limit, previousFrom: firstDayOfPreviousPeriod(range) };
  const query = { ...range, time_zone: timeZone, currency, limit: String(limit), ...(groupBy !== undefined && { group_by: groupBy }) };
  return {
    name: `orders, ${name}${groupBy === undefined ? '' : `, by ${groupBy}`}${groupBy === 'product' ? ` (${limit})` : ''}`,
    path: `orders?${new URLSearchParams(query).toString()}`,
    run: (em) => readOrderStatistics(em, parameters),
  };
}

function productQuery({ name, from, to, timeZone }: Range): Query {
  const query = { from, to, currency, limit: '100', time_zone: timeZone, low_stock: '5' };
  return {
    name: `products, ${name.replace(' by day', '')}`,
    path: `products?${new URLSearchParams(query).toString()}`,
    run: (em) => readBestSellingLowStockAndUnsoldProducts(em, { from, to, currency, timeZone, limit: 100, lowStock: 5 }),
  };
}

/**
 * Returns queries with the longest permitted periods and the highest permitted limits. Queries by product are repeated with the default
 * limit.
 */
function statisticsQueries(): Query[] {
  return [
    ...ranges.flatMap((range) => [
      ...([undefined, 'status', 'product', 'category', 'application'] as const).map((groupBy) => orderQuery(range, groupBy, 20)),
      orderQuery(range, 'product', 10),
      ...(range.interval === 'day' ? [productQuery(range)] : []),
    ]),
    {
      name: 'applications, two years',
      path: 'applications?from=2024-01&to=2025-12&limit=100',
      run: (em) => queryStatisticsPerClientApplication(em, currency, { from: '2024-01-01', to: '2025-12-01' }, 100),
    },
  ];
}

const slowestFirst = (a: Measurement, b: Measurement): number => b.cpuMs - a.cpuMs;

/**
 * Measures, over HTTP, the queries that use the most CPU time. Returns table rows with the median and the maximum duration of a request.
 */
async function measureHttp(db: Database, slowest: readonly Measurement[]): Promise<string[]> {
  const http = createServer((req, res) => void app(req, res));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = z.object({ port: z.number() }).parse(http.address());
  const origin = `http://localhost:${port}`;
  const keys = deriveKeys('a secret that only this measurement uses');
  const app = await createApp({ db, issuer: origin, keys, log: createLogger(false) });
  const token = await obtainClientToken(origin, await createConfidentialClient(db, scopeNames), scopeNames);
  const lines: string[] = [];
  for (const { query } of slowest) {
    const durations: number[] = [];
    for (let i = 0; i < repeats; i += 1) {
      durations.push(await durationMs(() => readResponse(`${origin}/api/v1/statistics/${query.path}`, token)));
    }
    lines.push(`| ${query.name} | ${median(durations).toFixed(0)} | ${Math.max(...durations).toFixed(0)} |`);
  }
  http.close();
  http.closeAllConnections();
  return lines;
}

async function readResponse(url: string, token: string): Promise<void> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
}

async function foldAll(em: EntityManager): Promise<void> {
  while ((await addRecordedChangesToOrderStatistics(em.fork())) > 0);
}

/**
 * Measures statistics queries while many changes have not been added to the sums yet, and then measures adding these changes to the sums.
 */
async function measureUnfoldedChanges(em: EntityManager): Promise<{ readonly measurements: Measurement[]; readonly foldMs: number }> {
  await em.execute(`update orders set status = case status when 'paid' then 'delivered' else 'paid' end
                     where id in (select id from orders where status in ('paid', 'delivered') order by id desc limit 2000)`);
  const measurements: Measurement[] = [];
  for (const query of statisticsQueries()) {
    if (!query.name.includes('31 days by hour, by')) continue;
    const name = `${query.name}, with 8,000 changes that are not folded yet`;
    measurements.push(await measure(em, { ...query, name }));
  }
  const foldMs = await durationMs(() => addRecordedChangesToOrderStatistics(em.fork(), 5_000));
  await foldAll(em);
  return { measurements, foldMs };
}

/** Fills an empty database, and returns the duration of the rebuild in milliseconds. */
async function fillAndRebuild(em: EntityManager): Promise<number> {
  await fill(em);
  process.stderr.write('rebuild\n');
  const rebuildMs = await durationMs(() => rebuildOrderStatistics(em.fork()));
  await em.execute('vacuum analyze order_statistics');
  return rebuildMs;
}

async function fillAndMeasure(url: string): Promise<void> {
  const db = await openDatabaseWithoutMigrating(url, { timeouts: 'none' });
  await migrate(db);
  const em = db.em.fork();
  const [found] = await em.execute<{ filled: boolean }[]>('select exists (select 1 from orders) as filled');
  const rebuildMs = found?.filled === true ? undefined : await fillAndRebuild(em);
  await foldAll(em);
  const measurements: Measurement[] = [];
  for (const query of statisticsQueries()) measurements.push(await measure(em, query));
  const unfolded = await measureUnfoldedChanges(em);
  const rows = [...measurements, ...unfolded.measurements].map(formatRow);
  process.stdout.write(`\n| query | median, ms | slowest, ms | CPU time, ms |\n|---|---|---|---|\n${rows.join('\n')}\n`);
  const http = await measureHttp(db, measurements.toSorted(slowestFirst).slice(0, 3));
  process.stdout.write(`\n| request | median, ms | slowest, ms |\n|---|---|---|\n${http.join('\n')}\n`);
  process.stdout.write(`\nFolding 5,000 changes: ${unfolded.foldMs.toFixed(0)} ms.\n`);
  if (rebuildMs !== undefined)
    process.stdout.write(`Rebuild with ${count.toLocaleString('en')} orders: ${(rebuildMs / 1000).toFixed(0)} s.\n`);
  await db.close();
}

const existingUrl = process.argv[3];
if (existingUrl === undefined) {
  const server = await startPostgresql(await findPostgresql());
  try {
    await fillAndMeasure(server.url);
  } finally {
    await server.stop();
  }
} else {
  await fillAndMeasure(existingUrl);
}
