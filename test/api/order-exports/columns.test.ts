import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatDecimalAmount, orderExportColumns } from '@mandate/contract';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { deliveryAddress } from '../../support/shop/test-shop.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';

const till = withPaymentTestShop();
/** Four orders: one delivered, one partly shipped, one canceled and one unpaid. Each column has a value in at least one of these orders. */
let orders: readonly [JsonBody, JsonBody, JsonBody, JsonBody];

beforeAll(async () => {
  orders = [
    await createShippedOrder('delivered', 3),
    await createShippedOrder('shipped', 1),
    await createCanceledOrder(),
    await placeOrder('unpaid'),
  ];
});

const delivery = {
  method: 'standard',
  recipient_name: 'Anna Test',
  ...deliveryAddress,
  phone: '0113 496 0000',
  line2: 'Flat 2',
  region: 'West Yorkshire',
};

async function placeOrder(reference: string): Promise<JsonBody> {
  const [user, heart, mug] = [
    await till.shop.createUser(),
    await till.shop.createProduct({ price: 1255, tax_rate_bps: 2000, stock: 9 }),
    await till.shop.createProduct({ price: 999, tax_rate_bps: 500, stock: 9, name: 'Mug' }),
  ];
  const items = [
    { product_id: heart.id, quantity: 3 },
    { product_id: mug.id, quantity: 2 },
  ];
  const extraFields = { discount_total: 700, reference, note: 'Leave it at the door', metadata: { till: '4' } };
  const { status, body, text } = await till.post('/orders', { user_id: user.id, items, delivery, ...extraFields });
  expect(status, text).toBe(201);
  return body;
}

async function createShippedOrder(status: string, quantity: number): Promise<JsonBody> {
  const { id } = await placeOrder(status);
  await till.createPayment(id);
  const items = [
    { line: 1, quantity },
    { line: 2, quantity: 2 },
  ];
  const shipped = await till.post(`/orders/${id}/shipments`, { status, items });
  expect(shipped.status, shipped.text).toBe(201);
  const refunded = await till.post(`/orders/${id}/refunds`, { amount: 321, restock: [{ line: 1, quantity: 2 }] });
  expect(refunded.status, refunded.text).toBe(201);
  return till.get(`/orders/${id}`);
}

async function createCanceledOrder(): Promise<JsonBody> {
  const { id } = await placeOrder('canceled');
  const canceled = await till.post(`/orders/${id}/cancellation`, { reason: 'out_of_stock' });
  expect(canceled.status, canceled.text).toBe(201);
  return till.get(`/orders/${id}`);
}

/** Values of export columns whose names differ from the names of the resource fields. */
const renamedColumns: Readonly<Record<string, (order: JsonBody, line: JsonBody) => unknown>> = {
  delivery_method: ({ delivery: { method } }) => method,
  line_tax: (_order, { tax }) => tax,
  line_total: (_order, { total }) => total,
};

/** Returns the value of the resource field that has the same name as the column. */
function expectedCell(column: string, order: JsonBody, line: JsonBody): unknown {
  const amountColumn = /^(.*)_decimal$/.exec(column)?.[1];
  if (amountColumn !== undefined) return formatDecimalAmount(Number(expectedCell(amountColumn, order, line)), order.currency);
  const getValue = renamedColumns[column];
  if (getValue) return getValue(order, line);
  const lineColumns: readonly string[] = orderExportColumns.line;
  const source = [lineColumns.includes(column) ? line : order, order.delivery].find((object) => column in object);
  if (source === undefined) throw new Error(`no field ${column} in an order, its delivery or its lines`);
  return source[column];
}

const toCsvCell = (cell: unknown): string => {
  if (cell === null) return '';
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
};

test('the orders have a value for every column, and distinct amounts', () => {
  const [, partly] = orders;
  const columns = [...orderExportColumns.order, ...orderExportColumns.line];
  const isEmpty = (column: string): boolean => orders.every((order) => expectedCell(column, order, order.items[0]) === null);
  expect(columns.filter(isEmpty)).toEqual([]);
  const [line] = partly.items;
  const amounts = ['subtotal', 'discount_total', 'shipping_total', 'tax_total', 'total', 'refunded_total'].map((name) => partly[name]);
  const all = [...amounts, line.unit_price, line.tax, line.total, line.quantity, line.shipped_quantity, line.restocked_quantity];
  expect(new Set(all).size, all.join(', ')).toBe(all.length);
  expect(all).not.toContain(0);
});

describe.each([
  ['orders', orderExportColumns.order],
  ['lines', [...orderExportColumns.order, ...orderExportColumns.line]],
] as const)('an export of %s', (rows, columns) => {
  const runExport = async (format: string): Promise<string> => {
    const started = await till.post('/order-exports', { rows, format });
    return (await completeTask(till.mandate, till.shop.token, started)).file;
  };
  const expectedRows = (): [JsonBody, JsonBody][] =>
    orders.flatMap((order) =>
      (rows === 'orders' ? [order.items[0]] : order.items).map((line: JsonBody): [JsonBody, JsonBody] => [order, line]),
    );

  test('has the columns of the contract with the values of the resource, as CSV', async () => {
    const [header, ...actualRows]: string[][] = parse(await runExport('csv'));
    expect(header).toEqual(columns);
    expect(actualRows).toEqual(
      expectedRows().map(([order, line]) => columns.map((column) => toCsvCell(expectedCell(column, order, line)))),
    );
  });

  test('has the same columns and values as NDJSON', async () => {
    const actualRows = (await runExport('ndjson'))
      .trimEnd()
      .split('\n')
      .map((text): JsonBody => JSON.parse(text));
    expect(actualRows).toEqual(
      expectedRows().map(([order, line]) => Object.fromEntries(columns.map((column) => [column, expectedCell(column, order, line)]))),
    );
  });
});
