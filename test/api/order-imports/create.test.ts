import { describe, expect, test } from 'vitest';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { completeImport, completeTask } from '../../support/shop/run-tasks.ts';

const shop = withShop();

const start = (body: string, query: object = {}, headers: Record<string, string> = {}, token = shop.token): Promise<ApiResponse> =>
  shop.callApi('POST', `/api/v1/order-imports?${new URLSearchParams({ source: 'old-shop', ...query }).toString()}`, {
    token,
    body,
    headers: { 'content-type': 'text/csv', ...headers },
  });
const runImport = async (body: string, query: object = {}, headers: Record<string, string> = {}) =>
  completeImport(shop, shop.token, await start(body, query, headers));
async function findOrders(reference: string): Promise<JsonBody[]> {
  const { body } = await shop.callApi('GET', `/api/v1/orders?reference=${reference}`, { token: shop.token });
  const orders = body.data.map(({ id }: JsonBody) => shop.callApi('GET', `/api/v1/orders/${id}`, { token: shop.token }));
  return (await Promise.all(orders)).map((response: ApiResponse) => response.body);
}
const query = async (sql: string, parameters: unknown[] = []): Promise<JsonBody[]> => shop.db.em.fork().execute(sql, parameters);
const baseRules = { unknown_customers: 'create', unknown_products: 'create', currency: 'EUR' };

describe('202', () => {
  test('imports an order with its reference, date, prices and customer, without stock changes or events', async () => {
    const product = await shop.createProduct({ price: 999, stock: 5, tax_rate_bps: 700 });
    const [before] = await query('select count(*)::int as count from events');
    const csv = [
      'reference,created_at,customer,customer_name,customer_email,sku,name,quantity,unit_price,tax_rate_bps,shipping_total,discount_total,note,line1,city,country',
      `O-1,2020-02-29T23:30:00+02:00,c7,Carla,carla@example.com,${product.sku},Old name,20,255,2000,395,100,Ring,1 High Street,Leeds,GB`,
      'O-1,,,,,OLD-2,Mug,1,1250,0,,,,,,',
      `O-1,,,,,${product.sku},Old name,1,200,2000,,,,,,`,
    ].join('\n');
    const { counts, remarks, task } = await runImport(csv, baseRules);
    expect([counts, remarks]).toEqual([{ created: 1, updated: 0, unchanged: 0, refused: 0, differing: 0 }, []]);
    expect(task.progress).toEqual({ processed: 3, total: 3 });
    const [order] = await findOrders('O-1');
    expect(order).toMatchObject({
      status: 'delivered',
      payment_status: 'paid',
      fulfillment_status: 'delivered',
      currency: 'EUR',
      subtotal: 20 * 255 + 1250 + 200,
      discount_total: 100,
      shipping_total: 395,
      total: 20 * 255 + 1250 + 200 + 395 - 100,
      item_count: 3,
      reference: 'O-1',
      note: 'Ring',
      created_at: '2020-02-29T21:30:00.000Z',
      paid_at: '2020-02-29T21:30:00.000Z',
      delivered_at: '2020-02-29T21:30:00.000Z',
      expires_at: null,
      delivery: { method: 'imported', recipient_name: 'Carla', line1: '1 High Street', city: 'Leeds', country: 'GB' },
    });
    expect(
      order.items.map((item: JsonBody) => [
        item.line,
        item.product_id === product.id,
        item.name,
        item.unit_price,
        item.quantity,
        item.shipped_quantity,
      ]),
    ).toEqual([
      [1, true, 'Old name', 255, 20, 20],
      [2, false, 'Mug', 1250, 1, 1],
      [3, true, 'Old name', 200, 1, 1],
    ]);
    // at a tax rate of 20%, 5100 includes a tax of 850 and 200 includes 33.33; the discount reduces the tax proportionally
    expect([order.items[0].tax, order.items[2].tax, order.tax_total]).toEqual([850, 33, Math.round((883 * 6450) / 6550)]);
    const { body: user } = await shop.callApi('GET', `/api/v1/users/${order.user_id}`, { token: shop.token });
    expect(user).toMatchObject({ name: 'Carla', email: 'carla@example.com', role: 'customer' });
    const { body: now } = await shop.callApi('GET', `/api/v1/products/${product.id}`, { token: shop.token });
    expect([now.stock, now.price, now.name]).toEqual([5, 999, product.name]);
    const [after] = await query(`select count(*)::int as count from events where type not like 'task.%'`);
    expect(after.count).toBe(before.count);
  });

  test('imports an order once per source', async () => {
    const csv = 'reference,created_at,customer,sku,quantity,unit_price\nT-1,2020-01-01,x,T,1,5\nT-2,2020-01-01,x,T,1,5\n';
    expect((await runImport(csv, baseRules)).counts).toMatchObject({ created: 2, unchanged: 0 });
    const more = `${csv}T-3,2020-01-01,y,T,1,5\n`;
    expect((await runImport(more, baseRules)).counts).toMatchObject({ created: 1, unchanged: 2 });
    expect((await runImport(csv, { ...baseRules, source: 'other-shop' })).counts).toMatchObject({ created: 2, unchanged: 0 });
    const [one, two] = [await findOrders('T-1'), await findOrders('T-2')];
    expect([one.length, two.length]).toEqual([2, 2]);
    // all orders with the same source and customer belong to one user
    expect(new Set([...one, ...two].map((order) => order.user_id)).size).toBe(2);
  });

  test('combines the rows of an order from anywhere in the file', async () => {
    const rows = Array.from({ length: 30 }, (_, n) => `G-${n % 3},2020-01-01,g,GS-${n},${n + 1},10`);
    await runImport(`reference,created_at,customer,sku,quantity,unit_price\n${rows.join('\n')}\n`, baseRules);
    for (const of of [0, 1, 2]) {
      const [order, ...others] = await findOrders(`G-${of}`);
      expect([others, order.items.map((item: JsonBody) => item.quantity)]).toEqual([
        [],
        Array.from({ length: 10 }, (_, n) => n * 3 + of + 1),
      ]);
    }
  });

  test('finds a customer by e-mail address, or assigns all orders to one user', async () => {
    const ben = await shop.createUser();
    const csv = `reference,created_at,customer_email,sku,quantity,unit_price\nC-1,2020-01-01,${ben.email.toUpperCase()},CS,1,5\nC-2,2020-01-01,,CS,1,5\n`;
    const knownCustomers = { ...baseRules, unknown_customers: 'refuse' };
    expect((await runImport(csv, knownCustomers)).remarks).toMatchObject([{ line: 3, field: 'customer', code: 'required' }]);
    expect((await runImport(csv, { ...knownCustomers, user_id: ben.id })).counts).toMatchObject({ created: 1, unchanged: 1 });
    expect([...(await findOrders('C-1')), ...(await findOrders('C-2'))].map((order) => order.user_id)).toEqual([ben.id, ben.id]);
    expect(
      (await runImport('reference,created_at,sku,quantity,unit_price\nC-3,2020-01-01,CS,1,5\n', { ...knownCustomers, user_id: 987_654 }))
        .remarks,
    ).toMatchObject([{ line: 2, field: 'user_id', code: 'unknown_reference' }]);
  });

  test('reads statuses, custom column names, UTC offsets and decimals', async () => {
    const csv =
      'No,When,Who,Art,Pcs,Price,State\n' +
      ['paid', 'shipped', 'delivered', 'canceled', 'pending']
        .map((state, n) => `S-${n},2020-07-01 12:00,w,SA,2,${n}.105,${state}`)
        .join('\n');
    const columns = {
      reference_column: 'No',
      created_at_column: 'When',
      customer_column: 'Who',
      sku_column: 'Art',
      quantity_column: 'Pcs',
      unit_price_column: 'Price',
      status_column: 'State',
    };
    const { remarks } = await runImport(csv, { ...baseRules, ...columns, currency: 'KWD', amounts: 'decimal', utc_offset: '+01:00' });
    expect(remarks).toMatchObject([{ line: 6, field: 'status' }]);
    const orders = (await Promise.all([0, 1, 2, 3].map((n) => findOrders(`S-${n}`)))).flat();
    expect(orders.map((order) => [order.status, order.payment_status, order.fulfillment_status, order.total, order.created_at])).toEqual([
      ['paid', 'paid', 'unfulfilled', 210, '2020-07-01T11:00:00.000Z'],
      ['shipped', 'paid', 'shipped', 2210, '2020-07-01T11:00:00.000Z'],
      ['delivered', 'paid', 'delivered', 4210, '2020-07-01T11:00:00.000Z'],
      ['canceled', 'unpaid', 'unfulfilled', 6210, '2020-07-01T11:00:00.000Z'],
    ]);
  });

  test('imports an export of order lines, as CSV and as NDJSON', async () => {
    await runImport(
      'reference,created_at,customer,sku,name,quantity,unit_price,note\nE-1,2020-01-01,e,ES,"=Evil, ""quoted""",3,255,"two\nlines"\n',
      baseRules,
    );
    const [original] = await findOrders('E-1');
    const formats = [
      ['csv', 'text/csv'],
      ['ndjson', 'application/x-ndjson'],
    ] as const;
    const files: [string, string][] = [];
    for (const [format, type] of formats) {
      const body = { format, rows: 'lines', reference: 'E-1' };
      const started = await shop.callApi('POST', '/api/v1/order-exports', { token: shop.token, body });
      files.push([type, (await completeTask(shop, shop.token, started)).file]);
    }
    for (const [type, file] of files) {
      const reimport = { source: type.replace('/', '-'), customer_column: 'user_id', unknown_customers: 'create' };
      expect((await runImport(file, reimport, { 'content-type': type })).counts).toEqual({
        created: 1,
        updated: 0,
        unchanged: 0,
        refused: 0,
        differing: 0,
      });
    }
    const copies = (await findOrders('E-1')).filter(({ id }) => id !== original.id);
    expect(copies).toHaveLength(2);
    for (const copy of copies) {
      const { id: _, user_id: __, updated_at: ___, ...same } = original;
      expect(copy).toMatchObject(same);
    }
  });

  test('records events with events=true', async () => {
    await runImport('reference,created_at,customer,sku,quantity,unit_price\nA-1,2020-01-01,a,AS,1,5\n', { ...baseRules, events: 'true' });
    const [order] = await findOrders('A-1');
    const events = await query(`select type, user_id, data from events where subject_type = 'order' and subject_id = ?`, [order.id]);
    expect(events).toEqual([{ type: 'order.created', user_id: order.user_id, data: order }]);
  });

  test('a dry run changes nothing', async () => {
    const counts = () =>
      query(
        'select (select count(*)::int from orders) as o, (select count(*)::int from users) as u, (select count(*)::int from products) as p',
      );
    const before = await counts();
    const dryRun = await runImport('reference,created_at,customer,sku,quantity,unit_price\nD-1,2020-01-01,new,NEW,1,5\n', {
      ...baseRules,
      dry_run: 'true',
    });
    expect([dryRun.counts.created, await counts()]).toEqual([1, before]);
  });
});

describe('invalid lines', () => {
  const csv = [
    'reference,created_at,customer,sku,quantity,unit_price',
    'L-1,2020-01-01,l,LS,1,5',
    'L-1,2020-01-01,l,LS,0,5',
    'L-1,2020-01-01,l,LS,1,0',
    'L-2,2020-01-01,l,LS,-6,5',
    'L-3,yesterday,l,LS,1,5',
    ',2020-01-01,l,LS,1,5',
    'L-4,2020-01-01,l,LS,1',
    'L-5,2020-01-01,l,LS,100001,1.5',
    'L-6,2020-01-01,l,LS,1,5',
  ].join('\n');

  test('reject their order, and the result names line, reference and field', async () => {
    const { counts, remarks } = await runImport(csv, { ...baseRules, free_lines: 'refuse' });
    expect(counts).toEqual({ created: 1, updated: 0, unchanged: 0, refused: 6, differing: 0 });
    expect(remarks.map(({ line, reference, field, code }) => [line, reference, field, code])).toEqual([
      [3, 'L-1', 'quantity', 'invalid_value'],
      [4, 'L-1', 'unit_price', 'out_of_range'],
      [5, 'L-2', 'quantity', 'invalid_value'],
      [6, 'L-3', 'created_at', 'invalid_value'],
      [7, undefined, 'reference', 'required'],
      [8, 'L-4', undefined, 'unreadable'],
      [9, 'L-5', 'quantity', 'invalid_value'],
      [9, 'L-5', 'unit_price', 'invalid_value'],
    ]);
  });

  test('are skipped with bad_lines=leave_out', async () => {
    expect((await runImport(csv, { ...baseRules, source: 'lenient', bad_lines: 'leave_out', free_lines: 'refuse' })).counts).toMatchObject({
      created: 2,
    });
    const items = (await findOrders('L-1')).map((order) => order.items.length);
    expect(items).toEqual([1]);
    expect((await runImport(csv, { ...baseRules, source: 'free', bad_lines: 'leave_out' })).counts).toMatchObject({ created: 2 });
    expect((await findOrders('L-1')).map((order) => order.items.length).toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  test.each([
    ['an unknown product', { unknown_customers: 'create', currency: 'EUR' }, 'U-1,2020-01-01,u,NOPE,1,5', 'sku', 'unknown_reference'],
    [
      'an unknown customer',
      { unknown_products: 'create', currency: 'EUR' },
      'U-2,2020-01-01,nobody,US,1,5',
      'customer',
      'unknown_reference',
    ],
    ['no currency', { ...baseRules, currency: undefined }, 'U-3,2020-01-01,u,US,1,5', 'currency', 'required'],
    [
      'a total over 2^53-1',
      baseRules,
      Array.from({ length: 100 }, () => 'U-4,2020-01-01,u,US,100000,999999999').join('\n'),
      undefined,
      'out_of_range',
    ],
    ['2,001 lines', baseRules, Array.from({ length: 2_001 }, () => 'U-5,2020-01-01,u,US,1,1').join('\n'), undefined, 'out_of_range'],
    ['an invalid date', baseRules, 'U-6,2020-02-31,u,US,1,1', 'created_at', 'invalid_value'],
  ])('%s rejects the order', async (_label, rules, rows, field, code) => {
    const parameters = Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined));
    const { counts, remarks } = await runImport(`reference,created_at,customer,sku,quantity,unit_price\n${rows}\n`, parameters);
    expect([counts.created, counts.refused]).toEqual([0, 1]);
    expect(remarks).toEqual([expect.objectContaining({ line: 2, code, ...(field !== undefined && { field }) })]);
  });
});

describe('400 and 403', () => {
  test('requires a source and a valid UTC offset', async () => {
    const { body } = await shop.callApi('POST', '/api/v1/order-imports', {
      token: shop.token,
      body: 'x',
      headers: { 'content-type': 'text/csv' },
    });
    expect(body.errors).toMatchObject([{ in: 'query', parameter: 'source', code: 'required' }]);
    expect((await start('x', { utc_offset: 'Europe/London' })).body.errors).toMatchObject([
      { parameter: 'utc_offset', code: 'invalid_value' },
    ]);
  });

  test('requires orders.manage, and the scopes for creating unknown customers and products', async () => {
    const customer = (await shop.createAccount('customer', ['tasks.write', 'orders.write'])).token;
    expect((await start('x', {}, {}, customer)).body.code).toBe('insufficient_scope');
    const staffUser = await signUpWithRole(shop.db, shop.origin, 'staff');
    const staff = (await obtainTokens(shop.origin, staffUser, ['tasks.write', 'orders.manage'])).access_token;
    for (const rule of [{ unknown_customers: 'create' }, { unknown_products: 'create' }])
      expect((await start('x', rule, {}, staff)).body.code).toBe('insufficient_scope');
    expect((await start('reference\n1\n', {}, {}, staff)).status).toBe(202);
  });
});
