/**
 * `npm run scale:growth` measures the CPU time per request, the table sizes, and the effects of VACUUM and deletions in shops with 10,000,
 * 1 million and 10 million orders. Writes docs/growth.md, docs/growth.svg and docs/growth.json.
 *
 *   --orders 10000,1000000,10000000   shop sizes, as numbers of orders
 *   --seconds 5 --connections 32 --customers 1000 --out docs
 *
 * Each shop has one event for each order, one valid token for each order (at most 1 million), and one customer for every ten orders (at
 * most 100,000). Ten million orders need about 15 GB of disk space in `TMPDIR`.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BenchmarkEnvironment } from '../../bench/servers/benchmark-environment.ts';
import { fillEventsAndTokens } from './fill-events-and-tokens.ts';
import { measureCosts } from './measure-costs.ts';
import { measureMaintenance } from './measure-maintenance.ts';
import { measureSizes } from './measure-sizes.ts';
import { drawGrowth, formatGrowth, type SizeResult } from './report.ts';

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '10000,1000000,10000000' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    customers: { type: 'string', default: '1000' },
    out: { type: 'string', default: join(import.meta.dirname, '../../../docs') },
  },
});
const [seconds, connections, customers] = [Number(options.seconds), Number(options.connections), Number(options.customers)];

const startedAt = performance.now();

async function measureShop(orders: number): Promise<SizeResult> {
  const report = (progress: string): void =>
    void process.stderr.write(
      `${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${orders.toLocaleString('en')} orders: ${progress}\n`,
    );
  const users = Math.max(customers, Math.min(100_000, Math.floor(orders / 10)));
  const tokens = Math.min(1_000_000, orders);
  await using environment = await BenchmarkEnvironment.create({ orders, products: 10_000, users, customers }, report);
  const { em } = await environment.database();
  report('inserting events and tokens');
  await fillEventsAndTokens(em.fork(), { users, events: orders, tokens });
  const sizes = await measureSizes(em.fork());
  const costs = await measureCosts(environment, { seconds, connections, report });
  const maintenance = await measureMaintenance(environment, em.fork(), { seconds, connections, report });
  return { orders, users, tokens, costs, sizes, maintenance };
}

const results: SizeResult[] = [];
for (const orders of options.orders.split(',').map(Number)) results.push(await measureShop(orders));
const text = formatGrowth(results, seconds);
process.stdout.write(text);
await writeFile(join(options.out, 'growth.json'), `${JSON.stringify(results, undefined, 2)}\n`);
await writeFile(join(options.out, 'growth.svg'), drawGrowth(results));
await writeFile(join(options.out, 'growth.md'), text);
