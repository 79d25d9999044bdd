/**
 * `npm run scale:statistics -- 10000000` fills a PostgreSQL database with ten million orders from two years, each with two lines for two of
 * 2,000 products, and prints a Markdown table with the duration of each query for statistics. The program also prints the duration of a
 * rebuild and of adding 5,000 changes to the sums.
 */
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
const repeats = 5;
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
// The first product occurs in many orders, and the last ones are rare.
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
  // The orders are inserted without triggers, because the statistics are calculated afterwards.
  await em.begin();
  await em.execute(`set local session_replication_role = 'replica'`);
  for (let from = 1; from <= count; from += batch) {
    const [last] = await em.execute<{ id: number }[]>('select coalesce(max(id), 0) as id from orders');
    await em.execute(insertOrders, [firstSecond, totalSeconds / count, from, Math.min(from + batch - 1, count)]);
    await em.execute(insertLines, [last?.id]);
    process.stderr.write(`\r${(from + batch - 1).toLocaleString('en')} orders`);
  }
  await em.commit();
  for (const table of ['orders', 'order_items']) await em.execute(`vacuum analyze ${table}`);
}

async function durationMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function medianMs(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < repeats; i += 1) times.push(await durationMs(work));
  times.sort((a, b) => a - b);
  return `${times[(repeats - 1) / 2]?.toFixed(0)} | ${times.at(-1)?.toFixed(0)}`;
}

const ranges = [
  { name: '30 days by day', interval: 'day', from: '2025-11-01', to: '2025-11-30', previousFrom: '2025-10-02' },
  { name: '7 days by hour', interval: 'hour', from: '2025-11-01', to: '2025-11-07', previousFrom: '2025-10-25' },
  { name: 'a year by week', interval: 'week', from: '2025-01-01', to: '2025-12-31', previousFrom: '2024-01-01' },
  { name: 'a year by month', interval: 'month', from: '2025-01-01', to: '2025-12-31', previousFrom: '2024-01-01' },
];

async function measureQueries(em: EntityManager): Promise<string[]> {
  const shared = { currency: 'EUR', timeZone: 'America/New_York', limit: 10 };
  const lines: string[] = [];
  for (const { name, ...range } of ranges) {
    for (const groupBy of [undefined, 'status', 'product', 'category', 'application']) {
      const median = await medianMs(() => callOrderStatisticsFunction(em.fork(), { ...shared, ...range, groupBy }));
      process.stderr.write(`${name} ${groupBy}: ${median}\n`);
      lines.push(`| orders, ${name}${groupBy === undefined ? '' : `, by ${groupBy}`} | ${median} |`);
    }
  }
  const products = { ...shared, from: '2025-11-01', to: '2025-11-30', lowStock: 5 };
  lines.push(`| products, 30 days | ${await medianMs(() => callProductStatisticsFunction(em.fork(), products))} |`);
  const year = { from: '2025-01-01', to: '2025-12-01' };
  lines.push(`| applications, 12 months | ${await medianMs(() => callApplicationStatisticsFunction(em.fork(), 'EUR', year, 20))} |`);
  return lines;
}

const server = await startPostgresql(await findPostgresql());
try {
  const db = await openDatabaseWithoutMigrating(server.url, { timeouts: 'none' });
  await migrate(db);
  const em = db.em.fork();
  await fill(em);
  process.stderr.write('\nrebuild\n');
  const rebuildMs = await durationMs(() => rebuildOrderStatistics(db.em.fork()));
  await em.execute('vacuum analyze order_statistics');
  const lines = await measureQueries(em);
  await em.execute(`update orders set status = 'delivered' where id in (select id from orders where status = 'paid' limit 2000)`);
  const unfolded = await medianMs(() =>
    callOrderStatisticsFunction(db.em.fork(), {
      currency: 'EUR',
      timeZone: 'UTC',
      limit: 10,
      groupBy: 'status',
      interval: 'day',
      from: '2025-11-01',
      to: '2025-11-30',
      previousFrom: '2025-10-02',
    }),
  );
  const foldMs = await durationMs(() => foldOrderStatisticsBatch(db.em.fork(), 5_000));
  process.stdout.write(
    `\n${count.toLocaleString('en')} orders\n\n| query | median, ms | slowest, ms |\n|---|---|---|\n${lines.join('\n')}\n`,
  );
  process.stdout.write(`| orders, 30 days by day, by status, with 8,000 changes that are not folded yet | ${unfolded} |\n`);
  process.stdout.write(`\nRebuild: ${(rebuildMs / 1000).toFixed(0)} s. Folding 5,000 changes: ${foldMs.toFixed(0)} ms.\n`);
  await db.close();
} finally {
  await server.stop();
}
