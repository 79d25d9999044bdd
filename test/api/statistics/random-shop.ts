/** Random orders, payments, refunds and other changes that affect the statistics. */
import * as fc from 'fast-check';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { addRecordedChangesToOrderStatistics } from '../../../server/statistics/query-update-and-rebuild-statistics.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';

/** Daylight saving time changes, including a change at midnight (Havana) and a change by half an hour (Lord Howe Island). */
const transitions = ['2025-03-30T01:00Z', '2025-10-26T01:00Z', '2025-11-02T05:00Z', '2025-03-09T05:00Z', '2025-04-05T15:00Z'];
const instant = fc.oneof(
  fc
    .tuple(fc.constantFrom(...transitions), fc.integer({ min: -26 * 60, max: 26 * 60 }))
    .map(([at, minutes]) => Date.parse(at) + minutes * 60_000),
  fc.integer({ min: Date.parse('2025-02-01T00:00Z'), max: Date.parse('2025-11-30T00:00Z') }),
);
export const operation = fc.record({
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
export type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

const orderColumns = `user_id, client_id, status, payment_status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, created_at, paid_at`;
const lineValues = `line, p.id, p.sku, p.name, 100, ?::int + line, 0, 0, 100 * (?::int + line)
  from generate_series(1, ?::int) line join lateral (select id, sku, name from products order by (id + line + ?::int) % 7, id limit 1) p on true`;

/** Applies random operations to the orders. Changes the rows in the same way as the server. */
export class RandomShop {
  readonly #em: () => EntityManager;
  readonly #userId: number;
  #ids: number[] = [];

  constructor(em: () => EntityManager, userId: number) {
    this.#em = em;
    this.#userId = userId;
  }

  #execute(sql: string, parameters: unknown[]): Promise<JsonBody[]> {
    return this.#em().execute(sql, parameters);
  }

  async apply({ kind, at, index, quantity, lines, amount }: Operation): Promise<void> {
    const id = this.#ids[index % Math.max(1, this.#ids.length)];
    const lineParameters = [quantity, quantity, lines, index];
    const header = [this.#userId, index % 3 === 0 ? null : `app-${index % 3}`];
    const currency = index % 5 === 0 ? 'USD' : 'EUR';
    if (kind === 'fold') await addRecordedChangesToOrderStatistics(this.#em(), index % 50);
    if (kind === 'recategorize') {
      await this.#execute(`update products set category = ? where id = (select min(id) + ? from products)`, [`c${quantity}`, index % 4]);
    }
    if (kind === 'place' || kind === 'insertPaid') {
      const paid = kind === 'insertPaid';
      const insertOrder = `insert into orders (${orderColumns}) values (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, '{}', ?, ?)`;
      const values = [...header, paid ? 'paid' : 'pending', paid ? 'paid' : 'unpaid', currency, 5_000, 5_000, lines, at, paid ? at : null];
      const insertLines = `insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)`;
      // An import inserts an order and its lines in one statement.
      const [row] = paid
        ? await this.#execute(
            `with o as (${insertOrder} returning id), l as (${insertLines} select o.id, ${lineValues.replace('from generate', 'from o cross join generate')}) select id from o`,
            [...values, ...lineParameters],
          )
        : await this.#execute(`${insertOrder} returning id`, values);
      if (!paid) await this.#execute(`${insertLines} select ?, ${lineValues}`, [row?.id, ...lineParameters]);
      this.#ids.push(Number(row?.id));
    }
    if (id === undefined) return;
    if (kind === 'pay')
      await this.#execute(
        `update orders set status = 'paid', payment_status = 'paid', paid_at = greatest(created_at, ?) where id = ? and status = 'pending'`,
        [at, id],
      );
    if (kind === 'ship') await this.#execute(`update orders set status = 'shipped' where id = ? and status = 'paid'`, [id]);
    if (kind === 'cancel')
      await this.#execute(`update orders set status = 'canceled' where id = ? and status in ('pending', 'paid')`, [id]);
    if (kind === 'refund') await this.#refund(id, amount, at, index);
    if (kind === 'replace') {
      await this.#execute('delete from order_items where order_id = ?', [id]);
      await this.#execute(
        `with o as (update orders set client_id = ?, created_at = ?, paid_at = case when paid_at is not null then ?::timestamptz end where id = ? returning id),
              l as (insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
                    select o.id, ${lineValues.replace('from generate', 'from o cross join generate')}) select id from o`,
        [header[1], at, at, id, ...lineParameters],
      );
    }
  }

  async #refund(orderId: number, amount: number, at: string, index: number): Promise<void> {
    const [order] = await this.#execute('select currency from orders where id = ? and paid_at is not null', [orderId]);
    if (!order) return;
    const surplus = index % 6 === 0;
    const [payment] = await this.#execute(
      `insert into payments (order_id, attempt, provider, status, amount, currency, surplus)
       select ?, coalesce(max(attempt), 0) + 1, 'manual', 'failed', 5000, ?, ? from payments where order_id = ? returning id`,
      [orderId, order.currency, surplus, orderId],
    );
    const [refund] = await this.#execute(
      `insert into refunds (order_id, payment_id, status, amount, currency, reason, restock, actor, created_at)
       values (?, ?, 'pending', ?, ?, 'other', '[]', 'test', ?) returning id`,
      [orderId, payment?.id, amount, order.currency, at],
    );
    if (index % 4 === 0) return;
    await this.#execute(`update refunds set status = ? where id = ?`, [index % 4 === 1 ? 'failed' : 'succeeded', refund?.id]);
  }
}
