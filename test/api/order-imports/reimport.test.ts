import { describe, expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { startOrderImport } from './start-order-import.ts';
import { completeImport, runPendingTasks } from '../../support/shop/run-tasks.ts';

const shop = withShop();

const start = (body: string, query: object = {}, contentType = 'text/csv') => startOrderImport(shop, body, query, contentType);
const runImport = async (body: string, query: object = {}, contentType = 'text/csv') =>
  completeImport(shop, shop.token, await start(body, query, contentType));
async function runFailingImport(body: string, contentType = 'text/csv'): Promise<JsonBody> {
  const { body: task } = await start(body, {}, contentType);
  await runPendingTasks(shop);
  const { body: finished } = await shop.callApi('GET', `/api/v1/tasks/${task.id}`, { token: shop.token });
  expect(finished.status).toBe('failed');
  return finished;
}
async function orderByReference(reference: string): Promise<JsonBody> {
  const { body } = await shop.callApi('GET', `/api/v1/orders?reference=${reference}`, { token: shop.token });
  expect(body.data).toHaveLength(1);
  return (await shop.callApi('GET', `/api/v1/orders/${body.data[0].id}`, { token: shop.token })).body;
}
const query = async (sql: string, parameters: unknown[] = []): Promise<JsonBody[]> => shop.db.em.fork().execute(sql, parameters);

const columns = [
  'reference',
  'created_at',
  'customer',
  'sku',
  'name',
  'quantity',
  'unit_price',
  'tax_rate_bps',
  'shipping_total',
  'discount_total',
  'note',
  'status',
  'currency',
  'customer_name',
  'customer_email',
  'delivery_method',
  'recipient_name',
  'line1',
  'line2',
  'city',
  'region',
  'postal_code',
  'country',
];
const orderFields = {
  created_at: '2020-03-01T10:00:00Z',
  customer: 'c1',
  status: 'delivered',
  currency: 'EUR',
  shipping_total: '395',
  discount_total: '10',
  note: 'Ring',
  customer_name: 'Carla',
  customer_email: 'carla@again.example',
  delivery_method: 'post',
  recipient_name: 'Carla C.',
  line1: '1 High Street',
  line2: 'Flat 2',
  city: 'Leeds',
  region: 'West Yorkshire',
  postal_code: 'LS1 1AA',
  country: 'GB',
};
const lines = [
  { sku: 'AG-1', name: 'Mug', quantity: '2', unit_price: '500', tax_rate_bps: '2000' },
  { sku: 'AG-2', name: 'Heart', quantity: '3', unit_price: '255', tax_rate_bps: '0' },
  { sku: 'AG-3', name: 'Bag', quantity: '1', unit_price: '900', tax_rate_bps: '0' },
];
const toCsv = (reference: string, rows: readonly object[] = lines, overrides: object = {}): string => {
  const toRow = (row: object): string =>
    columns.map((name) => Reflect.get({ reference, ...orderFields, ...overrides, ...row }, name) ?? '').join(',');
  return `${columns.join(',')}\n${rows.map((row) => `${toRow(row)}\n`).join('')}`;
};

/** Imports an order twice, with different data the second time. Expects that the second import rejects the order. */
async function expectRefused(reference: string, changed: string, remark: { line: number; field?: string }): Promise<JsonBody[]> {
  await runImport(toCsv(reference));
  const before = await orderByReference(reference);
  const { counts, remarks } = await runImport(changed);
  expect(counts).toMatchObject({ unchanged: 0, updated: 0, refused: 1, differing: 1 });
  expect(remarks).toEqual([expect.objectContaining({ ...remark, reference, code: 'already_imported' })]);
  const { field } = remark;
  expect(remarks[0]?.detail).toMatch(field === undefined ? /the data of the customer/ : new RegExp(`${field} .*instead of (?!empty)`));
  return [await orderByReference(reference), before];
}

describe('an order that was imported before', () => {
  test('is unchanged if the data is equal, even in another notation', async () => {
    expect((await runImport(toCsv('SAME'))).counts).toMatchObject({ created: 1 });
    expect((await runImport(toCsv('SAME'))).counts).toEqual({ created: 0, updated: 0, unchanged: 1, refused: 0, differing: 0 });
    const decimals = lines.map((line) => ({ ...line, unit_price: (Number(line.unit_price) / 100).toFixed(2) }));
    const again = toCsv('SAME', decimals, { shipping_total: '3.95', discount_total: '0.10', created_at: '2020-03-01T11:00:00+01:00' });
    const { counts, remarks } = await runImport(again.replaceAll('\n', '\r\n'), { amounts: 'decimal' });
    expect([counts, remarks]).toEqual([{ created: 0, updated: 0, unchanged: 1, refused: 0, differing: 0 }, []]);
  });

  test('is rejected if the first file was truncated, and the detail explains the difference', async () => {
    const wholeFile = toCsv('CUT');
    const cut = wholeFile.slice(0, wholeFile.indexOf('CUT', wholeFile.indexOf('AG-1')));
    expect((await runImport(cut)).counts).toMatchObject({ created: 1 });
    const before = await orderByReference('CUT');
    const { counts, remarks, task } = await runImport(wholeFile);
    expect(counts).toEqual({ created: 0, updated: 0, unchanged: 0, refused: 1, differing: 1 });
    expect(task.imported).toEqual(counts);
    expect(remarks).toEqual([
      {
        line: 3,
        reference: 'CUT',
        code: 'already_imported',
        detail: `Order ${before.id} was imported before with different data: the number of lines is 3 instead of 1; line 2 is new. To replace it, import the file again with changed_orders=replace.`,
      },
    ]);
    expect(await orderByReference('CUT')).toEqual(before);
  });

  const changedLineFields = { sku: 'AG-9', name: 'Hearts', quantity: '4', unit_price: '256', tax_rate_bps: '1' };
  test.each(Object.entries(changedLineFields))('is rejected if a line has a different %s (%s)', async (field, value) => {
    const changed = lines.map((line, at) => (at === 1 ? { ...line, [field]: value } : line));
    const [after, before] = await expectRefused(`L-${field}`, toCsv(`L-${field}`, changed), { line: 3, field });
    expect(after).toEqual(before);
  });

  test.each(
    Object.entries({
      created_at: '2020-03-02T10:00:00Z',
      customer: 'c2',
      status: 'shipped',
      currency: 'USD',
      shipping_total: '396',
      discount_total: '11',
      note: 'Knock',
      delivery_method: 'courier',
      recipient_name: 'Carl',
      line1: '2 High Street',
      line2: 'Flat 3',
      city: 'York',
      region: 'North Yorkshire',
      postal_code: 'YO1 1AA',
      country: 'IE',
    }),
  )('is rejected if the order has a different %s (%s)', async (field, value) => {
    const [after, before] = await expectRefused(`F-${field}`, toCsv(`F-${field}`, lines, { [field]: value }), { line: 2, field });
    expect(after).toEqual(before);
  });

  test.each([
    ['customer_name', 'Carl'],
    ['customer_email', 'carl@again.example'],
  ])('is rejected if the customer has a different %s', async (field, value) => {
    const [after, before] = await expectRefused(`F-${field}`, toCsv(`F-${field}`, lines, { [field]: value }), { line: 2 });
    expect(after).toEqual(before);
  });

  test('is replaced with changed_orders=replace, except for metadata and creation time', async () => {
    await runImport(toCsv('REP', lines.slice(0, 2)));
    const before = await orderByReference('REP');
    await shop.callApi('PATCH', `/api/v1/orders/${before.id}`, {
      token: shop.token,
      body: { metadata: { crm: '7' } },
      headers: { 'if-match': '*' },
    });
    const { counts, remarks } = await runImport(
      toCsv('REP', lines, { note: 'Knock', customer: 'c3', customer_email: 'c3@again.example' }),
      {
        changed_orders: 'replace',
      },
    );
    expect([counts, remarks]).toEqual([{ created: 0, updated: 1, unchanged: 0, refused: 0, differing: 0 }, []]);
    const after = await orderByReference('REP');
    const subtotal = 2 * 500 + 3 * 255 + 900;
    expect(after).toMatchObject({
      id: before.id,
      subtotal,
      total: subtotal + 395 - 10,
      item_count: 3,
      note: 'Knock',
      metadata: { crm: '7' },
      created_at: before.created_at,
    });
    expect(after.items.map((item: JsonBody) => [item.line, item.sku, item.quantity, item.shipped_quantity])).toEqual([
      [1, 'AG-1', 2, 2],
      [2, 'AG-2', 3, 3],
      [3, 'AG-3', 1, 1],
    ]);
    expect([after.user_id === before.user_id, after.version > before.version]).toEqual([false, true]);
    const again = toCsv('REP', lines, { note: 'Knock', customer: 'c3', customer_email: 'c3@again.example' });
    expect((await runImport(again)).counts).toMatchObject({ unchanged: 1, differing: 0 });
  });

  test('a dry run of a replacement changes nothing', async () => {
    await runImport(toCsv('TRIAL'));
    const before = await orderByReference('TRIAL');
    const dryRun = await runImport(toCsv('TRIAL', lines.slice(1)), { changed_orders: 'replace', dry_run: 'true' });
    expect([dryRun.counts.updated, await orderByReference('TRIAL')]).toEqual([1, before]);
  });

  test('is not replaced after a shipment', async () => {
    await runImport(toCsv('SHIP', lines, { status: 'paid' }));
    const before = await orderByReference('SHIP');
    const parcel = await shop.callApi('POST', `/api/v1/orders/${before.id}/shipments`, {
      token: shop.token,
      body: { items: [{ line: 1, quantity: 1 }] },
    });
    expect(parcel.status, parcel.text).toBe(201);
    const shipped = await orderByReference('SHIP');
    const { counts, remarks } = await runImport(toCsv('SHIP', lines.slice(1), { status: 'paid' }), { changed_orders: 'replace' });
    expect(counts).toMatchObject({ updated: 0, refused: 1, differing: 1 });
    expect(remarks).toMatchObject([{ reference: 'SHIP', code: 'not_replaceable' }]);
    expect(await orderByReference('SHIP')).toEqual(shipped);
  });

  test('without a fingerprint is compared by lines and totals, and then receives a fingerprint', async () => {
    await runImport(toCsv('OLD'));
    await query(`update imported_orders set fingerprint = null where reference = 'OLD'`);
    expect((await runImport(toCsv('OLD', lines.slice(0, 2)))).counts).toMatchObject({ differing: 1 });
    // fields that this shop may have changed since the import are not compared
    const { id } = await orderByReference('OLD');
    await shop.callApi('PATCH', `/api/v1/orders/${id}`, { token: shop.token, body: { note: 'New' }, headers: { 'if-match': '*' } });
    expect((await runImport(toCsv('OLD'))).counts).toMatchObject({ unchanged: 1, differing: 0 });
    expect((await runImport(toCsv('OLD', lines, { note: 'Other' }))).counts).toMatchObject({ unchanged: 0, differing: 1 });
  });

  test('records an event for a replacement with events=true', async () => {
    await runImport(toCsv('EV'));
    await runImport(toCsv('EV', lines.slice(1)), { changed_orders: 'replace', events: 'true' });
    const order = await orderByReference('EV');
    const events = await query(`select type, data from events where subject_type = 'order' and subject_id = ?`, [order.id]);
    expect(events).toEqual([{ type: 'order.updated', data: order }]);
  });
});

describe('a truncated file', () => {
  const wholeFile = toCsv('T-1') + toCsv('T-2').split('\n').slice(1).join('\n');
  test.each([
    ['within a row', wholeFile.slice(0, wholeFile.lastIndexOf('AG-3') + 4), 'text/csv', 'truncated_file', /line 7/],
    ['within quotes', `${toCsv('T-3')}T-3,"2020`, 'text/csv', 'malformed_csv', /line 5/],
    [
      'within a JSON line',
      '{"reference":"T-4","created_at":"2020-01-01","customer":"t","sku":"T","quantity":1,"unit_price":5}\n{"reference":"T-4","cre',
      'application/x-ndjson',
      'truncated_file',
      /line 2/,
    ],
  ])('%s imports nothing', async (_label, body, type, code, detail) => {
    const { error, imported: counts } = await runFailingImport(body, type);
    expect(error).toEqual({ code, detail: expect.stringMatching(detail) });
    expect(counts).toEqual({ created: 0, updated: 0, unchanged: 0, refused: 0, differing: 0 });
    expect(await query(`select reference from imported_orders where reference like 'T-%'`)).toEqual([]);
  });

  test('a damaged row is an invalid line of its order', async () => {
    const [header, ...rows] = toCsv('DMG').trimEnd().split('\n');
    const csv = [header, rows[0], rows[1]?.split(',').slice(0, 6).join(','), rows[2], ''].join('\n');
    const { counts, remarks } = await runImport(csv);
    expect(counts).toMatchObject({ created: 0, refused: 1 });
    expect(remarks).toMatchObject([{ line: 3, reference: 'DMG', code: 'unreadable' }]);
    const object = (n: number) =>
      JSON.stringify({ reference: 'DMJ', created_at: '2020-01-01', customer: 'd', sku: `D-${n}`, quantity: 1, unit_price: 5 });
    const json = await runImport([object(1), object(2).slice(0, 60), object(3), ''].join('\n'), {}, 'application/x-ndjson');
    expect(json.counts).toMatchObject({ created: 0, refused: 1 });
    expect(json.remarks).toMatchObject([{ line: 2, reference: 'DMJ', code: 'unreadable' }]);
  });
});
