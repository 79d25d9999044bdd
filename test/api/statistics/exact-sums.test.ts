/**
 * For random orders, the statistics equal sums calculated from the orders, regardless of which changes have been added to the stored sums.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldOrderStatisticsBatch, rebuildOrderStatistics } from '../../../server/statistics/call-database-statistics-functions.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const execute = async (sql: string, parameters: unknown[] = []): Promise<JsonBody[]> => shop.db.em.fork().execute(sql, parameters);

/** Daylight saving time changes, including one at midnight (Havana) and one of half an hour (Lord Howe Island). */
const transitions = ['2025-03-30T01:00Z', '2025-10-26T01:00Z', '2025-11-02T05:00Z', '2025-03-09T05:00Z', '2025-04-05T15:00Z'];
const instant = fc.oneof(
  fc
    .tuple(fc.constantFrom(...transitions), fc.integer({ min: -26 * 60, max: 26 * 60 }))
    .map(([at, minutes]) => Date.parse(at) + minutes * 60_000),
  fc.integer({ min: Date.parse('2025-02-01T00:00Z'), max: Date.parse('2025-11-30T00:00Z') }),
);
const operation = fc.record({
  kind: fc.constantFrom(
    'place',
    'place',
    'place',
    'insertPaid',
    'pay',
    'pay',
    'ship',
    'cancel',
    'refund',
    'refund',
    'replace',
    'recategorize',
    'fold',
  ),
  at: instant.map((time) => new Date(time).toISOString()),
  index: fc.nat(1_000),
  quantity: fc.integer({ min: 1, max: 9 }),
  lines: fc.integer({ min: 1, max: 3 }),
  amount: fc.integer({ min: 1, max: 500 }),
});
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

const orderColumns = `user_id, client_id, status, payment_status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, created_at, paid_at`;
const lineValues = `line, p.id, p.sku, p.name, 100, ?::int + line, 0, 0, 100 * (?::int + line)
  from generate_series(1, ?::int) line join lateral (select id, sku, name from products order by (id + line + ?::int) % 7, id limit 1) p on true`;

/** Applies random operations to the orders, changing the rows in the same ways as the server. */
class RandomShop {
  readonly #userId: number;
  #ids: number[] = [];

  constructor(userId: number) {
    this.#userId = userId;
  }

  async apply({ kind, at, index, quantity, lines, amount }: Operation): Promise<void> {
    const id = this.#ids[index % Math.max(1, this.#ids.length)];
    const lineParameters = [quantity, quantity, lines, index];
    const header = [this.#userId, index % 3 === 0 ? null : `app-${index % 3}`];
    const currency = index % 5 === 0 ? 'USD' : 'EUR';
    if (kind === 'fold') await foldOrderStatisticsBatch(shop.db.em.fork(), index % 50);
    if (kind === 'recategorize') {
      await execute(`update products set category = ? where id = (select min(id) + ? from products)`, [`c${quantity}`, index % 4]);
    }
    if (kind === 'place' || kind === 'insertPaid') {
      const paid = kind === 'insertPaid';
      const insertOrder = `insert into orders (${orderColumns}) values (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, '{}', ?, ?)`;
      const values = [...header, paid ? 'paid' : 'pending', paid ? 'paid' : 'unpaid', currency, 5_000, 5_000, lines, at, paid ? at : null];
      const insertLines = `insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)`;
      // An import inserts an order and its lines in one statement.
      const [row] = paid
        ? await execute(
            `with o as (${insertOrder} returning id), l as (${insertLines} select o.id, ${lineValues.replace('from generate', 'from o cross join generate')}) select id from o`,
            [...values, ...lineParameters],
          )
        : await execute(`${insertOrder} returning id`, values);
      if (!paid) await execute(`${insertLines} select ?, ${lineValues}`, [row?.id, ...lineParameters]);
      this.#ids.push(Number(row?.id));
    }
    if (id === undefined) return;
    if (kind === 'pay')
      await execute(
        `update orders set status = 'paid', payment_status = 'paid', paid_at = greatest(created_at, ?) where id = ? and status = 'pending'`,
        [at, id],
      );
    if (kind === 'ship') await execute(`update orders set status = 'shipped' where id = ? and status = 'paid'`, [id]);
    if (kind === 'cancel') await execute(`update orders set status = 'canceled' where id = ? and status in ('pending', 'paid')`, [id]);
    if (kind === 'refund') await this.#refund(id, amount, at, index);
    if (kind === 'replace') {
      await execute('delete from order_items where order_id = ?', [id]);
      await execute(
        `with o as (update orders set client_id = ?, created_at = ?, paid_at = case when paid_at is not null then ?::timestamptz end where id = ? returning id),
              l as (insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
                    select o.id, ${lineValues.replace('from generate', 'from o cross join generate')}) select id from o`,
        [header[1], at, at, id, ...lineParameters],
      );
    }
  }

  async #refund(orderId: number, amount: number, at: string, index: number): Promise<void> {
    const [order] = await execute('select currency from orders where id = ? and paid_at is not null', [orderId]);
    if (!order) return;
    const surplus = index % 6 === 0;
    const [payment] = await execute(
      `insert into payments (order_id, attempt, provider, status, amount, currency, surplus)
       select ?, coalesce(max(attempt), 0) + 1, 'manual', 'failed', 5000, ?, ? from payments where order_id = ? returning id`,
      [orderId, order.currency, surplus, orderId],
    );
    const [refund] = await execute(
      `insert into refunds (order_id, payment_id, status, amount, currency, reason, restock, actor, created_at)
       values (?, ?, 'pending', ?, ?, 'other', '[]', 'test', ?) returning id`,
      [orderId, payment?.id, amount, order.currency, at],
    );
    if (index % 4 === 0) return;
    await execute(`update refunds set status = ? where id = ?`, [index % 4 === 1 ? 'failed' : 'succeeded', refund?.id]);
  }
}

const fields = ['orders', 'paid_orders', 'items', 'revenue', 'refunds', 'refunded_total'] as const;
type Sums = Record<(typeof fields)[number], number>;
type Contribution = Partial<Sums> & {
  readonly at: number;
  readonly status?: string;
  readonly application?: string;
  product?: string;
  category?: string;
};

/** Reads the amounts that each order, line and refund contributes to the statistics. */
async function readContributions(currency: string): Promise<Contribution[]> {
  const milliseconds = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;
  const orders = await execute(
    `select status, coalesce(client_id, '') as application, total::float8 as total, ${milliseconds('created_at')} as created, ${milliseconds('paid_at')} as paid,
            (select sum(quantity) from order_items where order_id = o.id)::int as units from orders o where currency = ?`,
    [currency],
  );
  const lines = await execute(
    `select i.product_id::text as product, p.category, i.quantity, i.total::float8 as total, ${milliseconds('o.paid_at')} as paid
       from order_items i join orders o on o.id = i.order_id join products p on p.id = i.product_id where o.currency = ? and o.paid_at is not null`,
    [currency],
  );
  const refunds = await execute(
    `select o.status, coalesce(o.client_id, '') as application, r.amount::float8 as amount, ${milliseconds('r.created_at')} as at
       from refunds r join orders o on o.id = r.order_id join payments p on p.id = r.payment_id
      where o.currency = ? and r.status = 'succeeded' and not p.surplus`,
    [currency],
  );
  return [
    ...orders.map(({ status, application, created }) => ({ at: created, status, application, orders: 1 })),
    ...orders
      .filter(({ paid }) => paid !== null)
      .map(({ status, application, paid, total, units }) => ({
        at: paid,
        status,
        application,
        paid_orders: 1,
        revenue: total,
        items: units,
      })),
    ...lines.map(({ product, category, quantity, total, paid }) => ({ at: paid, product, category, items: quantity, revenue: total })),
    ...refunds.map(({ status, application, amount, at }) => ({ at, status, application, refunds: 1, refunded_total: amount })),
  ];
}

const add = (contributions: readonly Contribution[], timesZero: readonly string[] = []): Record<string, number | null> =>
  Object.fromEntries(
    fields.map((field) => [field, timesZero.includes(field) ? null : contributions.reduce((sum, each) => sum + (each[field] ?? 0), 0)]),
  );
const pick = (sums: JsonBody): Record<string, number | null> => Object.fromEntries(fields.map((field) => [field, sums[field]]));

const dayFormats = new Map<string, Intl.DateTimeFormat>();
function localDay(at: number, timeZone: string): string {
  const format = dayFormats.get(timeZone) ?? new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' });
  dayFormats.set(timeZone, format);
  return format.format(at);
}

/** Returns the local day, week or month of a timestamp. */
function localPeriod(at: number, timeZone: string, interval: string): string {
  const day = localDay(at, timeZone);
  if (interval === 'month') return day.slice(0, 7);
  if (interval === 'day') return day;
  const weekday = (new Date(day).getUTCDay() + 6) % 7;
  return new Date(Date.parse(day) - weekday * 86_400_000).toISOString().slice(0, 10);
}

const within = (contributions: readonly Contribution[], starts: string, ends: string): Contribution[] =>
  contributions.filter(({ at }) => at >= Date.parse(starts) && at < Date.parse(ends));

type Case = {
  readonly timeZone: string;
  readonly interval: string;
  readonly from: string;
  readonly to: string;
  readonly groupBy?: 'status' | 'application' | 'product' | 'category';
};
const cases: readonly Case[] = [
  { timeZone: 'Europe/Berlin', interval: 'day', from: '2025-03-01', to: '2025-11-30', groupBy: 'status' },
  { timeZone: 'America/Havana', interval: 'day', from: '2025-02-15', to: '2025-11-20', groupBy: 'product' },
  { timeZone: 'America/Havana', interval: 'hour', from: '2025-10-31', to: '2025-11-03', groupBy: 'application' },
  { timeZone: 'Australia/Lord_Howe', interval: 'hour', from: '2025-04-04', to: '2025-04-07', groupBy: 'category' },
  { timeZone: 'Asia/Kathmandu', interval: 'week', from: '2025-02-05', to: '2025-11-29', groupBy: 'category' },
  { timeZone: 'America/St_Johns', interval: 'month', from: '2025-07-01', to: '2025-11-30', groupBy: 'application' },
  { timeZone: 'UTC', interval: 'month', from: '2025-06-15', to: '2025-11-30', groupBy: 'product' },
];

async function compareWithSums(contributions: readonly Contribution[], { timeZone, interval, from, to, groupBy }: Case): Promise<void> {
  const query = new URLSearchParams({
    currency: 'EUR',
    time_zone: timeZone,
    interval,
    from,
    to,
    limit: '20',
    ...(groupBy && { group_by: groupBy }),
  });
  const { status, body } = await shop.callApi('GET', `/api/v1/statistics/orders?${query.toString()}`, { token: shop.token });
  expect([status, body]).toEqual([200, expect.anything()]);
  const isInRange = ({ at }: Contribution): boolean => localDay(at, timeZone) >= from && localDay(at, timeZone) <= to;
  const isInPrevious = ({ at }: Contribution): boolean => localDay(at, timeZone) >= body.previous_from && localDay(at, timeZone) < from;
  const ofOrders = contributions.filter(({ status: name }) => name !== undefined);
  const inRange = ofOrders.filter(isInRange);
  expect(pick(body.totals)).toEqual(add(inRange));
  expect(pick(body.previous_totals)).toEqual(add(ofOrders.filter(isInPrevious)));
  const periodsOf = (list: JsonBody[], candidates: readonly Contribution[]) =>
    list.forEach((period, index) => {
      expect(period.starts_at).toBe(index === 0 ? period.starts_at : list[index - 1]?.ends_at);
      const key = localPeriod(Date.parse(period.starts_at), timeZone, interval);
      const expected =
        interval === 'hour'
          ? within(candidates, period.starts_at, period.ends_at)
          : candidates.filter(({ at }) => localPeriod(at, timeZone, interval) === key);
      expect([period.starts_at, pick(period)]).toEqual([period.starts_at, add(expected)]);
    });
  periodsOf(body.periods, inRange);
  periodsOf(body.previous_periods, ofOrders.filter(isInPrevious));
  expect(localDay(Date.parse(body.periods[0].starts_at), timeZone)).toBe(from);
  if (!groupBy) return;
  const unknown = groupBy === 'product' || groupBy === 'category' ? ['orders', 'paid_orders', 'refunds', 'refunded_total'] : [];
  const grouped = Map.groupBy(
    contributions.filter((each) => each[groupBy] !== undefined && isInRange(each)),
    (each) => each[groupBy],
  );
  expect(body.group_count).toBe(grouped.size);
  expect(new Set(body.groups.map(({ key }: JsonBody) => key))).toEqual(new Set(grouped.keys()));
  for (const group of body.groups) {
    const members = grouped.get(group.key) ?? [];
    expect([group.key, pick(group.totals)]).toEqual([group.key, add(members, unknown)]);
    const before = contributions.filter((each) => each[groupBy] === group.key && isInPrevious(each));
    expect([group.key, pick(group.previous_totals)]).toEqual([group.key, add(before, unknown)]);
    for (const period of group.periods)
      expect([period.starts_at, pick(period)]).toEqual([period.starts_at, add(within(members, period.starts_at, period.ends_at), unknown)]);
  }
}

test('statistics equal sums over random orders, before and after they are folded and rebuilt', { timeout: 300_000 }, async () => {
  for (let n = 0; n < 6; n += 1) await shop.createProduct({ category: `c${n % 3}` });
  const randomShop = new RandomShop((await shop.createUser()).id);
  const isEqual = async (operations: readonly Operation[]): Promise<void> => {
    for (const each of operations) await randomShop.apply(each);
    const contributions = await readContributions('EUR');
    for (const each of cases) await compareWithSums(contributions, each);
    while ((await foldOrderStatisticsBatch(shop.db.em.fork(), 40)) > 0);
    for (const each of cases) await compareWithSums(contributions, each);
  };
  const runs = { numRuns: 3, endOnFailure: true } as const;
  await fc.assert(fc.asyncProperty(fc.array(operation, { minLength: 60, maxLength: 90, size: 'max' }), isEqual), runs);
  const sums = (): Promise<JsonBody[]> =>
    execute(`select dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded from order_statistics
              where (orders, paid_orders, items, revenue, refunds, refunded) <> (0, 0, 0, 0, 0, 0)
              order by dimension, currency, width, starts_at, key`);
  const maintained = await sums();
  expect(maintained.length).toBeGreaterThan(200);
  await rebuildOrderStatistics(shop.db.em.fork());
  expect(await sums()).toEqual(maintained);
});
