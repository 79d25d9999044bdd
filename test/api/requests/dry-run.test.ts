/** `dry_run=true` on every operation of the contract that declares it. An operation without a row fails. */
import { contract, contractV2, listRoutes } from '@mandate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operationOf } from '../../support/contract/declared-responses.ts';
import { rowsOf } from '../../support/dump.ts';
import type { Answer, Body } from '../../support/server/start-mandate.ts';
import { openTill, type Till } from '../../support/order-arithmetic.ts';
import { pickup, type Shop } from '../../support/server/shop.ts';

let till: Till;
let shop: Shop;

beforeAll(async () => {
  till = await openTill(undefined, { previewVersions: true });
  shop = till.shop;
});
afterAll(() => till.mandate.close());

type Request = readonly [path: string, body: Body];

const newOrder = async (): Promise<Body> => ({
  user_id: (await shop.user()).id,
  items: [{ product_id: (await shop.product({ stock: 5 })).id, quantity: 2 }],
  delivery: pickup,
});
async function newOrderV2(): Promise<Body> {
  const { delivery, ...order } = await newOrder();
  const { method: shipping_method, ...shipping_address } = delivery;
  return { ...order, shipping_method, shipping_address };
}
async function orderPaid(): Promise<number> {
  const order = await till.order();
  await till.pay(order.id);
  return order.id;
}
async function orderWithOpenPayment(): Promise<number> {
  const order = await till.order();
  await till.pay(order.id, 'test_requires_action');
  return order.id;
}

/** Requests that succeed, for each operation. */
const requests: Record<string, Record<string, () => Promise<Request>>> = {
  'orders.create': { 'an order': async () => ['/v1/orders', await newOrder()] },
  'v2 orders.create': { 'an order': async () => ['/v2/orders', await newOrderV2()] },
  'orders.cancel': {
    'a pending order': async () => [`/v1/orders/${(await till.order()).id}/cancellation`, {}],
    'an order with an open payment': async () => [`/v1/orders/${await orderWithOpenPayment()}/cancellation`, { note: 'Sorry' }],
    'a paid order': async () => [`/v1/orders/${await orderPaid()}/cancellation`, {}],
  },
  'v2 orders.cancel': { 'a paid order': async () => [`/v2/orders/${await orderPaid()}/cancellation`, {}] },
  'refunds.create': { 'part of a payment': async () => [`/v1/orders/${await orderPaid()}/refunds`, { reason: 'other', amount: 1 }] },
  'shipments.create': { 'a paid order': async () => [`/v1/orders/${await orderPaid()}/shipments`, { status: 'shipped' }] },
};

/** An import that is tried out is a task of its own, which reports what it would do: it is accepted (202) like any other. */
const takesDryRun = ({ query, responses }: ReturnType<typeof listRoutes>[number]): boolean =>
  query instanceof z.ZodObject && 'dry_run' in query.shape && 201 in responses;

test('placing, canceling, refunding and shipping take it, and each has a row', () => {
  const operations = [...listRoutes(contract), ...listRoutes(contractV2.orders)].filter(takesDryRun).map(operationOf);
  expect(Object.keys(requests).toSorted()).toEqual(operations.toSorted());
  expect(operations).toEqual(expect.arrayContaining(['orders.create', 'orders.cancel', 'refunds.create', 'shipments.create']));
});

const send = ([path, body]: Request, query: string, headers: Record<string, string> = {}): Promise<Answer> =>
  till.mandate.call('POST', `/api${path}${query}`, { token: shop.token, body, headers });

/** What differs between two otherwise equal requests. */
const comparable = ({ id: _id, created_at: _created, updated_at: _updated, expires_at: _expires, ...rest }: Body): Body =>
  JSON.parse(JSON.stringify(rest, (name, value) => (name.endsWith('_at') && value !== null ? 'a timestamp' : value)));

const cases = Object.entries(requests).flatMap(([operation, rows]) =>
  Object.entries(rows).map(([name, make]) => ({ operation, name, make })),
);

describe.each(cases)('$operation: $name', ({ make, operation }) => {
  test('returns the response of the real request, and writes nothing', async () => {
    const request = await make();
    const [path] = request;
    const key = `dry-${operation}-${path.replaceAll('/', ':')}`.replaceAll(' ', '-');
    const before = await rowsOf(till.mandate.db);
    const dry = await send(request, '?dry_run=true', { 'idempotency-key': key });
    expect([dry.status, dry.headers.get('mandate-dry-run'), dry.headers.get('location')]).toEqual([201, 'true', null]);
    expect(await rowsOf(till.mandate.db)).toEqual(before);
    const real = await send(request, '?dry_run=false', { 'idempotency-key': key });
    expect([real.status, real.headers.get('mandate-dry-run'), real.headers.get('idempotent-replayed')]).toEqual([201, null, null]);
    const settled = operation === 'refunds.create' ? { status: 'pending', provider_reference: null, succeeded_at: null, version: 1 } : {};
    expect({ ...comparable(dry.body), ...settled }).toEqual({ ...comparable(real.body), ...settled });
  });
});

test('what the real request would be refused for, the dry run is refused for', async () => {
  const order = await newOrder();
  const outOfStock = { ...order, items: [{ ...order.items[0], quantity: 6 }] };
  expect((await send(['/v1/orders', outOfStock], '?dry_run=true')).body.code).toBe('out_of_stock');
  expect((await send(['/v1/orders', { ...order, total: 1 }], '?dry_run=true')).body.code).toBe('price_changed');
  const { id } = await till.order();
  expect((await send([`/v1/orders/${id}/shipments`, {}], '?dry_run=true')).body.code).toBe('invalid_transition');
  expect((await send([`/v1/orders/${id}/refunds`, { reason: 'other' }], '?dry_run=true')).body.code).toBe('invalid_transition');
  expect((await send(['/v1/orders', order], '?dry_run=yes')).body.errors[0]).toMatchObject({ parameter: 'dry_run', code: 'invalid_value' });
});
