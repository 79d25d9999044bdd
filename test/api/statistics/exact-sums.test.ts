/**
 * Tests that the statistics for random orders equal sums calculated from the orders, regardless of how many changes have already been added
 * to the stored sums.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addRecordedChangesToOrderStatistics,
  rebuildOrderStatistics,
} from '../../../server/statistics/query-update-and-rebuild-statistics.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  statisticsCases,
  compareWithSums,
  randomStatisticsCase,
  readContributionsToStatistics,
  type StatisticsCase,
} from './compare-with-sums.ts';
import { operation, RandomShop, type Operation } from './random-shop.ts';

const shop = withShop();
const execute = async (sql: string, parameters: unknown[] = []): Promise<JsonBody[]> => shop.db.em.fork().execute(sql, parameters);
const foldAll = async (): Promise<void> => {
  while ((await addRecordedChangesToOrderStatistics(shop.db.em.fork(), 40)) > 0);
};

test('statistics equal sums over random orders, before and after stored sums are updated and rebuilt', { timeout: 300_000 }, async () => {
  for (let n = 0; n < 6; n += 1) await shop.createProduct({ category: `c${n % 3}` });
  const randomShop = new RandomShop(() => shop.db.em.fork(), (await shop.createUser()).id);
  const isEqual = async (operations: readonly Operation[], randomStatisticsCases: readonly StatisticsCase[]): Promise<void> => {
    for (const each of operations) await randomShop.apply(each);
    const contributions = await readContributionsToStatistics(shop.db.em.fork(), 'EUR');
    for (const each of [...statisticsCases, ...randomStatisticsCases]) await compareWithSums(shop, contributions, each);
    await foldAll();
    for (const each of [...statisticsCases, ...randomStatisticsCases]) await compareWithSums(shop, contributions, each);
  };
  const runs = { numRuns: 3, endOnFailure: true } as const;
  const someOperations = fc.array(operation, { minLength: 60, maxLength: 90, size: 'max' });
  await fc.assert(fc.asyncProperty(someOperations, fc.array(randomStatisticsCase, { minLength: 6, maxLength: 6 }), isEqual), runs);
  const sums = (): Promise<JsonBody[]> =>
    execute(`select dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded from order_statistics
              where (orders, paid_orders, items, revenue, refunds, refunded) <> (0, 0, 0, 0, 0, 0)
              order by dimension, currency, width, starts_at, key`);
  const maintained = await sums();
  expect(maintained.length).toBeGreaterThan(200);
  await rebuildOrderStatistics(shop.db.em.fork());
  expect(await sums()).toEqual(maintained);
});

/** Times for which the cases in `statisticsCases` read rows for 15 minutes, one hour and six hours, not only rows for longer periods. */
const timesInNarrowRows = ['2025-04-06T14:00Z', '2025-10-31T12:30Z', '2025-10-31T02:00Z'];

test('a wrong sum of any width is detected', { timeout: 120_000 }, async () => {
  const randomShop = new RandomShop(() => shop.db.em.fork(), (await shop.createUser()).id);
  for (const at of timesInNarrowRows) await randomShop.apply({ kind: 'insertPaid', at, index: 1, quantity: 1, lines: 3, amount: 1 });
  await foldAll();
  const contributions = await readContributionsToStatistics(shop.db.em.fork(), 'EUR');
  const compareAll = async (): Promise<void> => {
    for (const each of statisticsCases) await compareWithSums(shop, contributions, each);
  };
  await compareAll();
  for (const width of ['15 minutes', '1 hour', '6 hours', 'day', '5 days', 'month']) {
    await execute('update order_statistics set items = items + 1 where width = ?', [width]);
    const result = await compareAll().then(() => 'equal', String);
    expect([width, result]).toEqual([width, expect.stringContaining('AssertionError: expected ')]);
    await execute('update order_statistics set items = items - 1 where width = ?', [width]);
  }
});
