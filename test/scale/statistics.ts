/**
 * `npm run scale:statistics -- 10000000` fills a PostgreSQL database with ten million orders from two years, each with two lines for two of
 * 2,000 products, and prints a Markdown table with the duration and the CPU time of each statistics query. Other programs affect the CPU
 * time less than the duration. With the URL of a PostgreSQL database on this machine as a second argument, the program fills this database
 * if it has no orders, and keeps it, so that later runs only measure. The program also prints the duration of a rebuild and of adding 5,000 changes to the sums.
 */
import { readFile } from 'node:fs/promises';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import type { EntityManager } from '../../server/database/entity-manager/entity-manager-type.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import {
  callApplicationStatisticsFunction,
  callOrderStatisticsFunction,
  callProductStatisticsFunction,
  foldOrderStatisticsBatch,
  rebuildOrderStatistics,
} from '../../server/statistics/call-database-statistics-functions.ts';
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

/** Drops the indexes that only make inserting slower, and returns the statements that create them again. */
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

/** Returns the cells of a table row: median and maximum of the duration, and median of the CPU time, in milliseconds. */
async function measure(em: EntityManager, name: string, query: (em: EntityManager) => Promise<unknown>): Promise<string> {
  const durations: number[] = [];
  const cpu: number[] = [];
  await em.fork().transactional(async (transaction) => {
    const [backend] = await transaction.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
    const pid = backend?.pid ?? NaN;
    for (let i = 0; i < repeats; i += 1) {
      const before = await readCpuMs(pid);
      durations.push(await durationMs(() => query(transaction)));
      cpu.push((await readCpuMs(pid)) - before);
    }
  });
  const cells = [name, ...[median(durations), Math.max(...durations), median(cpu)].map((ms) => ms.toFixed(0))];
  process.stderr.write(`${cells.join(' | ')}\n`);
  return `| ${cells.join(' | ')} |`;
}

const newYork = 'America/New_York';
const ranges = [
  { name: '30 days by day', timeZone: newYork, interval: 'day', from: '2025-11-01', to: '2025-11-30', previousFrom: '2025-10-02' },
  {
    name: '30 days by day, Nepal',
    interval: 'day',
    from: '2025-10-15',
    to: '2025-11-13',
    previousFrom: '2025-09-15',
    timeZone: 'Asia/Kathmandu',
  },
  { name: 'a year by day', timeZone: newYork, interval: 'day', from: '2025-01-01', to: '2025-12-31', previousFrom: '2024-01-01' },
  { name: '7 days by hour', timeZone: newYork, interval: 'hour', from: '2025-11-01', to: '2025-11-07', previousFrom: '2025-10-25' },
  { name: '31 days by hour', timeZone: newYork, interval: 'hour', from: '2025-10-14', to: '2025-11-13', previousFrom: '2025-09-13' },
  { name: 'a year by week', timeZone: newYork, interval: 'week', from: '2025-01-01', to: '2025-12-31', previousFrom: '2024-01-01' },
  { name: 'a year by month', timeZone: newYork, interval: 'month', from: '2025-01-01', to: '2025-12-31', previousFrom: '2024-01-01' },
];
const shared = { currency: 'EUR', limit: 10 };

async function measureQueries(em: EntityManager): Promise<string[]> {
  const lines: string[] = [];
  for (const { name, ...range } of ranges) {
    for (const groupBy of [undefined, 'status', 'product', 'category', 'application']) {
      const label = `orders, ${name}${groupBy === undefined ? '' : `, by ${groupBy}`}`;
      lines.push(await measure(em, label, (each) => callOrderStatisticsFunction(each, { ...shared, ...range, groupBy })));
    }
  }
  for (const { name, from, to, timeZone } of ranges.filter(({ interval }) => interval === 'day')) {
    const products = { ...shared, from, to, timeZone, lowStock: 5 };
    lines.push(await measure(em, `products, ${name.replace(' by day', '')}`, (each) => callProductStatisticsFunction(each, products)));
  }
  const year = { from: '2025-01-01', to: '2025-12-01' };
  lines.push(await measure(em, 'applications, 12 months', (each) => callApplicationStatisticsFunction(each, 'EUR', year, 20)));
  return lines;
}

/** Measures statistics and folding while many changes have not been added to the sums yet. Returns a table row and the duration of folding. */
async function measureUnfoldedChanges(em: EntityManager): Promise<{ readonly line: string; readonly foldMs: number }> {
  await em.execute(`update orders set status = 'delivered' where id in (select id from orders where status = 'paid' limit 2000)`);
  const days = { interval: 'day', from: '2025-11-01', to: '2025-11-30', previousFrom: '2025-10-02', groupBy: 'status' };
  const name = 'orders, 30 days by day, by status, with 8,000 changes that are not folded yet';
  const line = await measure(em, name, (each) => callOrderStatisticsFunction(each, { ...shared, ...days, timeZone: newYork }));
  return { line, foldMs: await durationMs(() => foldOrderStatisticsBatch(em.fork(), 5_000)) };
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
  const lines = await measureQueries(em);
  const { line, foldMs } = await measureUnfoldedChanges(em);
  const head = '| query | median, ms | slowest, ms | CPU time, ms |\n|---|---|---|---|';
  process.stdout.write(`\n${[head, ...lines, line].join('\n')}\n\nFolding 5,000 changes: ${foldMs.toFixed(0)} ms.\n`);
  if (rebuildMs !== undefined)
    process.stdout.write(`Rebuild with ${count.toLocaleString('en')} orders: ${(rebuildMs / 1000).toFixed(0)} s.\n`);
  await db.close();
}

const existingUrl = process.argv[3];
if (existingUrl === undefined) {
  const server = await startPostgresql(await findPostgresql());
  await fillAndMeasure(server.url).finally(server.stop);
} else {
  await fillAndMeasure(existingUrl);
}
