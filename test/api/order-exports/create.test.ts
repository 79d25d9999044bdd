import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUp, signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { deliveryAddress, pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';

const shop = withShop();
const anna = shop.customer(['orders.read', 'orders.write', 'tasks.read', 'tasks.write']);

const start = (body: object = {}, as = anna.token, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  shop.callApi('POST', '/api/v1/order-exports', { token: as, body, headers });
const runExport = async (body: object = {}, as = anna.token) => completeTask(shop, as, await start(body, as));
const parseCsv = (file: string): JsonBody[] => parse(file, { columns: true });
const parseNdjson = (file: string): JsonBody[] =>
  file
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

async function placeOrder(items: readonly [JsonBody, number][], more: object = {}, as = anna.token): Promise<JsonBody> {
  const body = { items: items.map(([{ id }, quantity]) => ({ product_id: id, quantity })), delivery: pickupDelivery, ...more };
  const response = await shop.callApi('POST', '/api/v1/orders', { token: as, body });
  expect(response.status, response.text).toBe(201);
  return response.body;
}

describe('202', () => {
  test('exports the listed orders, oldest first', async () => {
    const product = await shop.createProduct();
    const placed = [await placeOrder([[product, 1]]), await placeOrder([[product, 2]]), await placeOrder([[product, 3]])];
    const started = await start();
    expect(started.headers.get('location')).toBe(`/api/v1/tasks/${started.body.id}`);
    expect(started.headers.get('retry-after')).toBe('2');
    expect(started.body).toMatchObject({
      type: 'order_export',
      status: 'queued',
      progress: { processed: 0, total: null },
      user_id: anna.id,
    });
    const { task, file } = await completeTask(shop, anna.token, started);
    expect(parseCsv(file).map(({ id, total }) => [Number(id), Number(total)])).toEqual(placed.map(({ id, total }) => [id, total]));
    expect(task.progress).toEqual({ processed: 3, total: 3 });
    expect(task.result).toEqual({
      format: 'csv',
      rows: 3,
      bytes: Buffer.byteLength(file),
      sha256: createHash('sha256').update(file).digest('hex'),
      imported: null,
      expires_at: new Date(Date.parse(task.finished_at) + 7 * 86_400_000).toISOString(),
    });
  });

  test('exports all columns, or the requested columns in the requested order', async () => {
    const product = await shop.createProduct({ price: 255, tax_rate_bps: 2000, name: 'Heart, "white"' });
    const order = await placeOrder([[product, 3]], {
      reference: 'A-1',
      delivery: { method: 'standard', recipient_name: 'Änne', ...deliveryAddress },
    });
    const [row] = parseCsv((await runExport({ rows: 'lines', reference: 'A-1' })).file);
    expect(row).toMatchObject({
      id: String(order.id),
      reference: 'A-1',
      total: '1160',
      total_decimal: '11.60',
      shipping_total_decimal: '3.95',
      recipient_name: 'Änne',
      line1: '1 High Street',
      country: 'GB',
      metadata: '{}',
      created_at: order.created_at,
      paid_at: '',
      line: '1',
      sku: product.sku,
      name: 'Heart, "white"',
      quantity: '3',
      unit_price: '255',
      unit_price_decimal: '2.55',
      line_tax: '128',
      line_total_decimal: '7.65',
    });
    const { file } = await runExport({ reference: 'A-1', columns: ['total_decimal', 'id'] });
    expect(file).toBe(`total_decimal,id\r\n11.60,${order.id}\r\n`);
  });

  test('formats amounts with the decimals of their currency', async () => {
    for (const [currency, price, decimal] of [
      ['JPY', 1205, '1205'],
      ['KWD', 1205, '1.205'],
    ] as const) {
      const code = `post_${currency.toLowerCase()}`;
      const method = { name: 'Post', price: 0, currency, requires_address: false };
      await shop.callApi('PUT', `/api/v1/delivery-methods/${code}`, {
        token: shop.token,
        body: method,
        headers: { 'if-none-match': '*' },
      });
      const product = await shop.createProduct({ currency, price });
      await placeOrder([[product, 1]], { reference: currency, delivery: { ...pickupDelivery, method: code } });
      const [row] = parseCsv((await runExport({ reference: currency, rows: 'lines' })).file);
      expect([row.total, row.total_decimal, row.unit_price_decimal]).toEqual(['1205', decimal, decimal]);
    }
  });

  test('writes one JSON object per order line', async () => {
    const [heart, mug] = [await shop.createProduct(), await shop.createProduct({ price: 900 })];
    await placeOrder(
      [
        [heart, 2],
        [mug, 1],
        [heart, 3],
      ],
      { reference: 'lines', metadata: { till: '4' } },
    );
    const { file, task } = await runExport({
      format: 'ndjson',
      rows: 'lines',
      reference: 'lines',
      columns: ['line', 'sku', 'quantity', 'metadata'],
    });
    expect(parseNdjson(file)).toEqual([
      { line: 1, sku: heart.sku, quantity: 2, metadata: { till: '4' } },
      { line: 2, sku: mug.sku, quantity: 1, metadata: { till: '4' } },
      { line: 3, sku: heart.sku, quantity: 3, metadata: { till: '4' } },
    ]);
    expect(task.result.rows).toBe(3);
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', "=cmd|' /C calc'!A0"])('escapes the formula %s in CSV', async (formula) => {
    const product = await shop.createProduct({ name: formula });
    const reference = `f${Buffer.from(formula).toString('hex')}`.slice(0, 60);
    await placeOrder([[product, 1]], {
      reference,
      note: formula,
      metadata: { x: formula },
      delivery: { ...pickupDelivery, recipient_name: formula },
    });
    const [row] = parseCsv((await runExport({ reference, rows: 'lines' })).file);
    expect([row.note, row.name, row.recipient_name]).toEqual([`'${formula}`, `'${formula}`, `'${formula}`]);
    const [object] = parseNdjson((await runExport({ reference, rows: 'lines', format: 'ndjson' })).file);
    expect([object.note, object.name]).toEqual([formula, formula]);
  });

  test('exports an empty list as a CSV header or an empty NDJSON file', async () => {
    expect((await runExport({ reference: 'none', columns: ['id', 'total'] })).file).toBe('id,total\r\n');
    const { file, task } = await runExport({ reference: 'none', format: 'ndjson' });
    expect([file, task.result.rows, task.result.bytes]).toEqual(['', 0, 0]);
  });

  test('exports only orders of the caller; staff with orders.manage can export all orders', async () => {
    const ben = await shop.createUser();
    const product = await shop.createProduct();
    await placeOrder([[product, 1]], { user_id: ben.id, reference: 'bens' }, shop.token);
    expect(parseCsv((await runExport({ reference: 'bens' })).file)).toEqual([]);
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const all = await obtainTokens(shop.origin, staffUser, ['orders.read', 'orders.manage', 'tasks.read', 'tasks.write']);
    expect(parseCsv((await runExport({ user_id: ben.id }, all.access_token)).file)).toMatchObject([
      { reference: 'bens', user_id: String(ben.id) },
    ]);
    const counted = await shop.callApi('GET', '/api/v1/orders?include_total=true', { token: shop.token });
    const { task } = await runExport({ payment_status: ['unpaid'] }, all.access_token);
    expect([task.result.rows, counted.body.total_count]).toEqual([counted.body.total_count, counted.body.total_count]);
    // the same user's token without the `orders.manage` scope cannot read the task
    const limited = await obtainTokens(shop.origin, staffUser, ['orders.read', 'tasks.read']);
    for (const path of [`/api/v1/tasks/${task.id}`, `/api/v1/tasks/${task.id}/result`])
      expect((await shop.callApi('GET', path, { token: limited.access_token })).status).toBe(404);
    expect((await shop.callApi('GET', '/api/v1/tasks', { token: limited.access_token })).body.data).toEqual([]);
  });

  test('returns the same task for the same idempotency key', async () => {
    const headers = { 'idempotency-key': 'export-1' };
    const first = await start({ reference: 'key' }, anna.token, headers);
    const second = await start({ reference: 'key' }, anna.token, headers);
    expect([second.status, second.text, second.headers.get('location')]).toEqual([202, first.text, first.headers.get('location')]);
    expect([second.headers.get('idempotent-replayed'), second.headers.get('retry-after')]).toEqual(['true', '2']);
    expect((await start({ reference: 'other' }, anna.token, headers)).body.code).toBe('idempotency_key_reused');
    await completeTask(shop, anna.token, first);
  });

  test('exports a thousand orders with all lines, sorted and without duplicates', async () => {
    const product = await shop.createProduct({ stock: null, price: 1 });
    const { id } = await placeOrder(
      Array.from({ length: 2_000 }, (): [JsonBody, number] => [product, 1]),
      { reference: 'many' },
    );
    await shop.db.em.fork().execute(
      `with copies as (
         insert into orders (user_id, status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, reference, created_at)
         select user_id, status, currency, 3, 0, 0, 3, 3, delivery, reference, created_at - make_interval(mins => n) from orders cross join generate_series(1, 999) n where id = ?
         returning id)
       insert into order_items (order_id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total)
       select copies.id, line, product_id, sku, name, unit_price, quantity, tax_rate_bps, tax, total from copies cross join order_items where order_id = ? and line <= 3`,
      [id, id],
    );
    const { task, file } = await runExport({ reference: 'many', rows: 'lines', columns: ['id', 'line', 'line_total', 'created_at'] });
    const rows = parseCsv(file);
    expect(rows).toHaveLength(999 * 3 + 2_000);
    expect(rows.reduce((sum, row) => sum + Number(row.line_total), 0)).toBe(4_997);
    expect(new Set(rows.map((row) => `${row.id}/${row.line}`)).size).toBe(4_997);
    const times = rows.map((row) => Date.parse(row.created_at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(task.progress).toEqual({ processed: 1_000, total: 1_000 });
  });
});

describe('400', () => {
  test.each([
    [{ format: 'xlsx' }, '#/format', 'invalid_value'],
    [{ columns: [] }, '#/columns', 'out_of_range'],
    [{ columns: ['id', 'secret'] }, '#/columns/1', 'invalid_value'],
    [{ columns: ['id', 'id'] }, '#/columns', 'invalid_value'],
    [{ columns: ['id', 'sku'] }, '#/columns/1', 'invalid_value'],
    [{ status: ['gone'] }, '#/status/0', 'invalid_value'],
    [{ limit: 3 }, '#/limit', 'unknown_field'],
    [{ created_at_gte: 'yesterday' }, '#/created_at_gte', 'invalid_value'],
    [{ created_at_gte: '2026-02-01T00:00:00Z', created_at_lt: '2026-01-01T00:00:00Z' }, '#/created_at_gte', 'invalid_value'],
  ])('%j', async (body, pointer, code) => {
    const response = await start(body);
    expect([response.status, response.body.errors?.[0]?.pointer, response.body.errors?.[0]?.code], response.text).toEqual([
      400,
      pointer,
      code,
    ]);
  });
});

describe('403', () => {
  test('requires tasks.write and orders.read', async () => {
    for (const [scopes, missing] of [
      [['tasks.write', 'tasks.read'], 'orders.read'],
      [['orders.read', 'tasks.read'], 'tasks.write'],
    ] as const) {
      const { access_token } = await obtainTokens(shop.origin, await signUp(shop.origin), scopes);
      const { status, body, headers } = await start({}, access_token);
      expect([status, body.code]).toEqual([403, 'insufficient_scope']);
      expect(headers.get('www-authenticate')).toContain(`scope="${missing}"`);
    }
  });

  test('a customer cannot export the orders of another customer', async () => {
    const ben = await shop.createUser();
    expect((await start({ user_id: ben.id })).body.code).toBe('forbidden');
  });
});

describe('409', () => {
  const summarizeResponse = ({ status, body, headers }: ApiResponse) => [status, body.code, headers.get('retry-after')];

  test('too_many_tasks: rejects a third task until another one is canceled', async () => {
    const ben = await obtainTokens(shop.origin, await signUp(shop.origin), ['orders.read', 'tasks.read', 'tasks.write']);
    const [first] = [await start({}, ben.access_token), await start({}, ben.access_token)];
    expect(summarizeResponse(await start({}, ben.access_token))).toEqual([409, 'too_many_tasks', '10']);
    await shop.callApi('POST', `/api/v1/tasks/${first.body.id}/cancellation`, { token: ben.access_token });
    expect((await start({}, ben.access_token)).status).toBe(202);
  });

  test.skipIf(databaseKind === 'pglite')('too_many_tasks: limits concurrent requests', async () => {
    const ben = await obtainTokens(shop.origin, await signUp(shop.origin), ['orders.read', 'tasks.read', 'tasks.write']);
    const em = shop.db.em.fork();
    await em.begin();
    // This lock blocks inserts into the table `tasks`, but not reads.
    await em.execute('lock table tasks in share row exclusive mode');
    const requests = Array.from({ length: 6 }, () => start({}, ben.access_token));
    const waiting = async (): Promise<number> =>
      Number((await em.execute<[{ count: string }]>('select count(*) as count from pg_locks where not granted'))[0].count);
    await expect.poll(waiting).toBe(6);
    await em.commit();
    const responses = await Promise.all(requests);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 202, 409, 409, 409, 409]);
  });
});
