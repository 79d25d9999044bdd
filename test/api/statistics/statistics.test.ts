import { describe, expect, test } from 'vitest';
import { addRecordedChangesToOrderStatistics } from '../../../server/statistics/query-update-and-rebuild-statistics.ts';
import { MonthlyUsageBuffer } from '../../../server/usage/monthly-usage-buffer.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { staffStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';

const { shop } = testAuthorization({
  'stats.orders': { send: () => ['GET', '/statistics/orders?group_by=product'], statuses: staffStatuses(200) },
  'stats.products': { send: () => ['GET', '/statistics/products'], statuses: staffStatuses(200) },
  'stats.applications': { send: () => ['GET', '/statistics/applications'], statuses: staffStatuses(200) },
});

const get = async (path: string): Promise<JsonBody> => {
  const { status, body } = await shop.callApi('GET', `/api/v1/statistics/${path}`, { token: shop.token });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
};
const today = (): string => new Date().toISOString().slice(0, 10);
const fold = (): Promise<number> => addRecordedChangesToOrderStatistics(shop.db.em.fork());

async function payOrder(id: number): Promise<JsonBody> {
  const call = { token: shop.token, body: { provider: 'manual' } };
  const { body: payment } = await shop.callApi('POST', `/api/v1/orders/${id}/payments`, call);
  const confirmed = await shop.callApi('POST', `/api/v1/payments/${payment.id}/confirmation`, { token: shop.token, body: {} });
  expect(confirmed.status).toBe(201);
  return confirmed.body;
}

describe('orders', () => {
  test('a change is counted immediately, and only once even after it has been added to the stored sums', async () => {
    const product = await shop.createProduct({ currency: 'EUR', price: 200, category: 'lamps' });
    await fold();
    const before = await get('orders?currency=EUR');
    const order = await shop.placeOrder(buildOrderInput([product, 3]));
    const added = async (): Promise<number[]> => {
      const { totals } = await get('orders?currency=EUR');
      return ['orders', 'paid_orders', 'items', 'revenue'].map((field) => totals[field] - before.totals[field]);
    };
    expect(await added()).toEqual([1, 0, 0, 0]);
    await payOrder(order.id);
    expect(await added()).toEqual([1, 1, 3, 600]);
    expect(await fold()).toBeGreaterThan(0);
    expect(await fold()).toBe(0);
    expect(await added()).toEqual([1, 1, 3, 600]);
  });

  test('groups have names, and amounts of products and categories are line totals', async () => {
    const product = await shop.createProduct({ currency: 'EUR', price: 90_000, category: 'pianos', name: 'Grand piano' });
    const order = await shop.placeOrder({ ...buildOrderInput([product, 2]), discount_total: 1_000 });
    await payOrder(order.id);
    const byProduct = await get('orders?currency=EUR&group_by=product&limit=1');
    expect(byProduct.groups).toMatchObject([
      {
        key: String(product.id),
        name: 'Grand piano',
        totals: { orders: null, paid_orders: null, items: 2, revenue: 180_000, refunds: null, refunded_total: null, net_revenue: null },
        previous_totals: { items: 0, revenue: 0 },
      },
    ]);
    expect(byProduct.groups[0].periods).toHaveLength(30);
    expect(byProduct.groups[0].periods.at(-1)).toMatchObject({ items: 2, revenue: 180_000 });
    expect(byProduct.group_count).toBeGreaterThan(1);
    const { groups } = await get('orders?currency=EUR&group_by=category&limit=1');
    expect(groups).toMatchObject([{ key: 'pianos', name: null, totals: { items: 2, revenue: 180_000 } }]);
    const change = { token: shop.token, body: { category: 'keyboards' } };
    expect((await shop.callApi('PATCH', `/api/v1/products/${product.id}`, change)).status).toBe(200);
    expect((await get('orders?currency=EUR&group_by=category&limit=1')).groups[0].key).toBe('keyboards');
    const byApplication = await get('orders?currency=EUR&group_by=application');
    expect(byApplication.groups[0]).toMatchObject({ key: order.client_id, name: expect.any(String) });
  });

  test('the default period ends today; the previous one has as many days, or whole months', async () => {
    const daily = await get('orders');
    expect([daily.to, daily.periods.length, daily.previous_periods.length]).toEqual([today(), 30, 30]);
    expect((await get('orders?interval=hour')).periods).toHaveLength(24);
    expect((await get('orders?interval=week')).to).toBe(today());
    expect((await get('orders?interval=month')).periods).toHaveLength(12);
    expect((await get('orders?from=2026-03-01&to=2026-03-31')).previous_from).toBe('2026-02-01');
    expect((await get('orders?from=2026-03-02&to=2026-03-31')).previous_from).toBe('2026-01-31');
    expect(await get('orders?from=2026-03-01&to=2026-03-01&interval=month')).toMatchObject({
      periods: [{ starts_at: '2026-03-01T00:00:00.000Z', ends_at: '2026-03-02T00:00:00.000Z' }],
      previous_from: '2026-02-28',
      groups: [],
      group_count: 0,
    });
  });

  test.each([
    ['2025-03-30', 'Europe/Berlin', 23],
    ['2025-10-26', 'Europe/Berlin', 25],
    ['2025-04-06', 'Australia/Lord_Howe', 25],
    ['2025-06-01', 'Europe/Berlin', 24],
  ])('the hours of %s in %s are %i periods without gaps', async (day, timeZone, count) => {
    const { periods } = await get(`orders?currency=EUR&interval=hour&from=${day}&to=${day}&time_zone=${timeZone}`);
    expect(periods).toHaveLength(count);
    expect(periods.slice(1).map((period: JsonBody) => period.starts_at)).toEqual(
      periods.slice(0, -1).map((period: JsonBody) => period.ends_at),
    );
    const localDay = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' });
    const days = periods.map((period: JsonBody) => localDay.format(new Date(period.starts_at)));
    expect(new Set(days)).toEqual(new Set([day]));
  });

  test('a refund counts in the month of the refund in the time zone, and the revenue in the month of the payment', async () => {
    const product = await shop.createProduct({ currency: 'EUR', price: 700 });
    const order = await shop.placeOrder(buildOrderInput([product, 2]));
    await payOrder(order.id);
    const refund = { token: shop.token, body: { amount: 300, reason: 'other' } };
    const { body: created } = await shop.callApi('POST', `/api/v1/orders/${order.id}/refunds`, refund);
    await shop.callApi('POST', `/api/v1/refunds/${created.id}/confirmation`, { token: shop.token, body: {} });
    // In Berlin, the payment is in October, and the refund an hour later is in November; in UTC, both are in October.
    const em = shop.db.em.fork();
    await em.execute(`update orders set created_at = '2025-10-31T22:00Z', paid_at = '2025-10-31T22:30Z' where id = ?`, [order.id]);
    await em.execute(`update refunds set created_at = '2025-10-31T23:30Z' where id = ?`, [created.id]);
    const months = async (timeZone: string): Promise<unknown> => {
      const { periods } = await get(`orders?currency=EUR&interval=month&from=2025-10-01&to=2025-11-30&time_zone=${timeZone}`);
      return periods.map((period: JsonBody) => [period.revenue, period.refunded_total, period.net_revenue]);
    };
    const expected = {
      'Europe/Berlin': [
        [1_400, 0, 1_400],
        [0, 300, -300],
      ],
      UTC: [
        [1_400, 300, 1_100],
        [0, 0, 0],
      ],
    };
    for (const [timeZone, sums] of Object.entries(expected)) expect(await months(timeZone)).toEqual(sums);
    await fold();
    for (const [timeZone, sums] of Object.entries(expected)) expect(await months(timeZone)).toEqual(sums);
  });

  test('a day that a time zone skipped has no orders', async () => {
    const order = await shop.placeOrder(buildOrderInput([await shop.createProduct({ currency: 'EUR' }), 1]));
    await shop.db.em.fork().execute(`update orders set created_at = '2011-12-30T12:00Z' where id = ?`, [order.id]);
    const counts = async (): Promise<unknown> => {
      const query = 'currency=EUR&from=2011-12-29&to=2011-12-31&time_zone=Pacific/Apia&group_by=status';
      const { periods, groups } = await get(`orders?${query}`);
      return [periods, groups[0].periods].map((each: JsonBody[]) => each.map(({ orders }) => orders));
    };
    const fromDecember29 = [0, 0, 1];
    expect(await counts()).toEqual([fromDecember29, fromDecember29]);
    await fold();
    expect(await counts()).toEqual([fromDecember29, fromDecember29]);
  });

  test('processes of earlier versions get the same sums, with the times of each period', async () => {
    await shop.placeOrder(buildOrderInput([await shop.createProduct({ currency: 'EUR' }), 1]));
    const call = (version: number): Promise<JsonBody[]> =>
      shop.db.em
        .fork()
        .execute(
          `select * from mandate_order_statistics_v${version}('status', 'EUR', 'Europe/Berlin', 'day', current_date - 1, current_date, current_date - 3, 20)`,
        );
    const berlin = { currency: 'EUR', time_zone: 'Europe/Berlin', interval: 'day', group_by: 'status', limit: '20' };
    const rows = await call(2);
    const starts = new Map(rows.filter(({ part }) => part === 'period').map((row) => [row.period, [row.starts_at, row.ends_at]]));
    const withTimes = rows.map(({ period, ...row }) => {
      const [starts_at, ends_at] = (row.part === 'group_period' && starts.get(period)) || [row.starts_at, row.ends_at];
      return { ...row, starts_at, ends_at };
    });
    expect(rows.some(({ part }) => part === 'group_period')).toBe(true);
    expect(await call(1)).toEqual(withTimes);
    const [day] = await shop.db.em
      .fork()
      .execute<{ from: string; to: string }[]>(`select (current_date - 1)::text as from, current_date::text as to`);
    const { periods, groups } = await get(`orders?${new URLSearchParams({ ...day, ...berlin }).toString()}`);
    const ordersOf = (part: string): number[] => rows.filter((row) => row.part === part).map(({ orders }) => Number(orders));
    expect(ordersOf('period')).toEqual(periods.map(({ orders }: JsonBody) => orders));
    expect(ordersOf('group')).toEqual(groups.map(({ totals }: JsonBody) => totals.orders));
  });

  test.each([
    ['from=2026-02-30', 'from', 'valid date'],
    ['from=1979-12-31', 'from', '1980-01-01'],
    ['from=2026-02-02&to=2026-02-01', 'from', 'must not be after'],
    ['interval=hour&from=2026-01-01&to=2026-03-01', 'from', 'at most 31 days'],
    ['interval=day&from=2024-01-01&to=2026-03-01', 'from', 'a longer `interval`'],
    ['time_zone=Mars/Olympus', 'time_zone', 'Europe/Berlin'],
    ['time_zone=%2B01:00', 'time_zone', 'name of a time zone'],
    ['limit=21', 'limit', ''],
    ['currency=euro', 'currency', 'ISO 4217'],
  ])('400 for %s', async (query, parameter, detail) => {
    const { status, body } = await shop.callApi('GET', `/api/v1/statistics/orders?${query}`, { token: shop.token });
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ parameter, detail: expect.stringContaining(detail) })]]);
  });
});

test('products: lists the best sellers, the products with low stock and the products that were not sold', async () => {
  const create = (stock: number, status = 'active') => shop.createProduct({ currency: 'CHF', price: 500, stock, status });
  const [sold, low, draft, archivedLater] = [await create(50), await create(2), await create(1, 'draft'), await create(30)];
  for (const [product, quantity] of [
    [sold, 5],
    [archivedLater, 7],
  ] as const) {
    const free = { delivery: { method: 'pickup', recipient_name: 'Anna Test' } };
    // The test shop's delivery methods use other currencies, so the lines are added to an order in EUR.
    const order = await shop.placeOrder(free);
    const em = shop.db.em.fork();
    await em.execute(
      `update orders set currency = 'CHF', status = 'paid', payment_status = 'paid', paid_at = now(), expires_at = null where id = ?`,
      [order.id],
    );
    await em.execute(
      `insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
       select ?, 2, id, sku, name, price, ?, 0, 0, price * ? from products where id = ?`,
      [order.id, quantity, quantity, product.id],
    );
  }
  const archive = { token: shop.token, body: { status: 'archived' } };
  await shop.callApi('PATCH', `/api/v1/products/${archivedLater.id}`, archive);
  const { best_sellers: best, running_low: runningLow, not_sold: notSold } = await get('products?currency=CHF');
  const ids = (list: JsonBody[]): number[] => list.map(({ product_id: id }) => id);
  expect(ids(best).slice(0, 2)).toEqual([archivedLater.id, sold.id]);
  expect(best[1]).toMatchObject({ sku: sold.sku, items: 5, revenue: 2_500, available: 50 });
  expect(runningLow).toEqual([
    { product_id: low.id, sku: low.sku, name: low.name, category: low.category, available: 2, items: 0, revenue: 0 },
  ]);
  expect(ids(notSold)).toEqual([low.id]);
  expect([...ids(runningLow), ...ids(notSold)]).not.toContain(draft.id);
  expect((await get('products?currency=CHF&low_stock=1')).running_low).toEqual([]);
});

test('applications: returns the requests, errors and orders of a month', async () => {
  const order = await shop.placeOrder();
  await payOrder(order.id);
  const buffer = new MonthlyUsageBuffer();
  const em = shop.db.em.fork();
  const clientId: string = order.client_id;
  for (let n = 0; n < 3; n += 1) await buffer.countRequest(em, clientId, 1_000_000, true, new Date());
  buffer.countError(clientId, new Date());
  await buffer.flush(em);
  const { applications, from, to } = await get('applications?currency=EUR');
  expect([from, to]).toEqual([today().slice(0, 7), today().slice(0, 7)]);
  const found = applications.find((each: JsonBody) => each.client_id === clientId);
  expect(found).toMatchObject({ name: expect.any(String) });
  expect(found.requests).toBeGreaterThanOrEqual(3);
  expect(found.errors).toBeGreaterThanOrEqual(1);
  const [row] = await em.execute<{ orders: number; revenue: number }[]>(
    `select count(*)::int as orders, (sum(total) filter (where paid_at is not null))::int as revenue from orders where client_id = ? and currency = 'EUR' and created_at >= date_trunc('month', now(), 'UTC')`,
    [clientId],
  );
  expect([found.orders, found.revenue]).toEqual([row?.orders, row?.revenue]);
  expect((await get('applications?from=2020-01&to=2020-02')).applications).toEqual([]);
  const reversed = await shop.callApi('GET', '/api/v1/statistics/applications?from=2026-02&to=2026-01', { token: shop.token });
  expect([reversed.status, reversed.body.errors[0].parameter]).toEqual([400, 'from']);
});
