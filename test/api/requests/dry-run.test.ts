/**
 * Tests `dry_run=true` for every operation that declares this parameter. A test fails if the table below has no row for such an operation.
 */
import { contract, contractV2, listRoutes } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operationName } from '../../support/contract/declared-responses.ts';
import { readAllRows } from '../../support/services/database-dump.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop(undefined, { previewVersions: true });

type DryRunRequest = readonly [path: string, body: JsonBody];

const newOrderBody = async (): Promise<JsonBody> => ({
  user_id: (await till.shop.createUser()).id,
  items: [{ product_id: (await till.shop.createProduct({ stock: 5 })).id, quantity: 2 }],
  delivery: pickupDelivery,
});
async function newOrderBodyV2(): Promise<JsonBody> {
  const { delivery, ...order } = await newOrderBody();
  const { method: shipping_method, ...shipping_address } = delivery;
  return { ...order, shipping_method, shipping_address };
}
async function createPaidOrder(): Promise<number> {
  const order = await till.placeOrder();
  await till.createPayment(order.id);
  return order.id;
}
async function createOrderWithOpenPayment(): Promise<number> {
  const order = await till.placeOrder();
  await till.createPayment(order.id, 'test_requires_action');
  return order.id;
}

/** Successful requests for each operation. */
const requests: Record<string, Record<string, () => Promise<DryRunRequest>>> = {
  'orders.create': { 'an order': async () => ['/v1/orders', await newOrderBody()] },
  'v2 orders.create': { 'an order': async () => ['/v2/orders', await newOrderBodyV2()] },
  'orders.cancel': {
    'a pending order': async () => [`/v1/orders/${(await till.placeOrder()).id}/cancellation`, {}],
    'an order with an open payment': async () => [`/v1/orders/${await createOrderWithOpenPayment()}/cancellation`, { note: 'Sorry' }],
    'a paid order': async () => [`/v1/orders/${await createPaidOrder()}/cancellation`, {}],
  },
  'v2 orders.cancel': { 'a paid order': async () => [`/v2/orders/${await createPaidOrder()}/cancellation`, {}] },
  'refunds.create': { 'part of a payment': async () => [`/v1/orders/${await createPaidOrder()}/refunds`, { reason: 'other', amount: 1 }] },
  'shipments.create': { 'a paid order': async () => [`/v1/orders/${await createPaidOrder()}/shipments`, { status: 'shipped' }] },
};

/** Excludes imports, because the dry run of an import returns 202, like any import, and starts a task that reports the result. */
const acceptsDryRun = ({ query, responses }: ReturnType<typeof listRoutes>[number]): boolean =>
  query instanceof z.ZodObject && 'dry_run' in query.shape && 201 in responses;

test('every operation that accepts dry_run has a row', () => {
  const operations = [...listRoutes(contract), ...listRoutes(contractV2.orders)].filter(acceptsDryRun).map(operationName);
  expect(Object.keys(requests).toSorted()).toEqual(operations.toSorted());
  expect(operations).toEqual(expect.arrayContaining(['orders.create', 'orders.cancel', 'refunds.create', 'shipments.create']));
});

const send = ([path, body]: DryRunRequest, query: string, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  till.mandate.callApi('POST', `/api${path}${query}`, { token: till.shop.token, body, headers });

/** Removes the values that differ between otherwise equal requests. */
const withoutVolatileValues = ({
  id: _id,
  created_at: _created,
  updated_at: _updated,
  expires_at: _expires,
  ...rest
}: JsonBody): JsonBody =>
  JSON.parse(JSON.stringify(rest, (name, value) => (name.endsWith('_at') && value !== null ? 'a timestamp' : value)));

const cases = Object.entries(requests).flatMap(([operation, rows]) =>
  Object.entries(rows).map(([name, createRequest]) => ({ operation, name, createRequest })),
);

describe.each(cases)('$operation: $name', ({ createRequest, operation }) => {
  test('returns the response of the real request, and writes nothing', async () => {
    const request = await createRequest();
    const [path] = request;
    const key = `dry-${operation}-${path.replaceAll('/', ':')}`.replaceAll(' ', '-');
    const before = await readAllRows(till.mandate.db);
    const dry = await send(request, '?dry_run=true', { 'idempotency-key': key });
    expect([dry.status, dry.headers.get('mandate-dry-run'), dry.headers.get('location')]).toEqual([201, 'true', null]);
    expect(await readAllRows(till.mandate.db)).toEqual(before);
    const real = await send(request, '?dry_run=false', { 'idempotency-key': key });
    expect([real.status, real.headers.get('mandate-dry-run'), real.headers.get('idempotent-replayed')]).toEqual([201, null, null]);
    const asynchronousFields =
      operation === 'refunds.create' ? { status: 'pending', provider_reference: null, succeeded_at: null, version: 1 } : {};
    expect({ ...withoutVolatileValues(dry.body), ...asynchronousFields }).toEqual({
      ...withoutVolatileValues(real.body),
      ...asynchronousFields,
    });
  });
});

test('returns the same errors as the real request', async () => {
  const order = await newOrderBody();
  const outOfStock = { ...order, items: [{ ...order.items[0], quantity: 6 }] };
  expect((await send(['/v1/orders', outOfStock], '?dry_run=true')).body.code).toBe('out_of_stock');
  expect((await send(['/v1/orders', { ...order, total: 1 }], '?dry_run=true')).body.code).toBe('price_changed');
  const { id } = await till.placeOrder();
  expect((await send([`/v1/orders/${id}/shipments`, {}], '?dry_run=true')).body.code).toBe('invalid_transition');
  expect((await send([`/v1/orders/${id}/refunds`, { reason: 'other' }], '?dry_run=true')).body.code).toBe('invalid_transition');
  expect((await send(['/v1/orders', order], '?dry_run=yes')).body.errors[0]).toMatchObject({ parameter: 'dry_run', code: 'invalid_value' });
});
