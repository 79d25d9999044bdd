import { afterEach, describe, expect, test } from 'vitest';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import { indexPaymentProvidersByName } from '../../../server/payments/providers/payment-provider.ts';
import { createTestProvider } from '../../../server/payments/providers/test-provider.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';

requireOneProcess('the tests delay a payment provider in the test process');

/** The test provider calls `providerWasCalled.resolve`, and then waits for `providerMayRespond`. */
let providerMayRespond = Promise.withResolvers<void>();
let providerWasCalled = Promise.withResolvers<void>();
const createDelayedProvider = () => {
  const provider = createTestProvider();
  const waitForRelease = async (): Promise<void> => {
    providerWasCalled.resolve();
    await providerMayRespond.promise;
  };
  return {
    ...provider,
    create: (request: Parameters<typeof provider.create>[0]) => waitForRelease().then(() => provider.create(request)),
    refund: (reference: string, request: Parameters<typeof provider.refund>[1]) =>
      waitForRelease().then(() => provider.refund(reference, request)),
  };
};
const till = withPaymentTestShop(indexPaymentProvidersByName(manualProvider, createDelayedProvider()));

afterEach(() => {
  providerMayRespond = Promise.withResolvers();
  providerWasCalled = Promise.withResolvers();
});

const key = { 'idempotency-key': 'once' };
const send = (path: string, body: object): Promise<ApiResponse> =>
  till.mandate.callApi('POST', `/api/v1${path}`, { token: till.shop.token, body, headers: key });
/** Moves the start of the pending request back by six seconds, so that a retry no longer waits for the response. */
const passSixSeconds = () =>
  till.mandate.db.em.fork().execute(`update idempotency_keys set created_at = now() - interval '6 seconds' where status is null`);
const deleteIdempotencyKeys = () => till.mandate.db.em.fork().execute('delete from idempotency_keys');

const operations = {
  payment: async () => ({ path: `/orders/${(await till.placeOrder()).id}/payments`, body: { provider: 'test', method_token: 'test_ok' } }),
  refund: async () => {
    providerMayRespond.resolve();
    const order = await till.placePaidOrder();
    providerMayRespond = Promise.withResolvers();
    providerWasCalled = Promise.withResolvers();
    return { path: `/orders/${order.id}/refunds`, body: { amount: 100 } };
  },
};

describe.each(Object.entries(operations))('a %s request that is retried before the provider has responded', (_label, prepare) => {
  afterEach(deleteIdempotencyKeys);

  test('returns 409 at first, and later the response of the first request', async () => {
    const { path, body } = await prepare();
    const first = send(path, body);
    await providerWasCalled.promise;
    const retry = await send(path, body);
    expect([retry.status, retry.body.code, retry.headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '1']);
    expect((await send(path, { ...body, note: 'another' })).status).not.toBe(201);
    providerMayRespond.resolve();
    const response = await first;
    expect([response.status, response.body.status]).toEqual([201, 'succeeded']);
    const replay = await send(path, body);
    expect([replay.text, replay.headers.get('idempotent-replayed')]).toEqual([response.text, 'true']);
    expect(replay.headers.get('location')).toBe(response.headers.get('location'));
    expect((await till.get(path)).data).toHaveLength(1);
  });

  test('takes over after six seconds, and the first request returns the same response', async () => {
    const { path, body } = await prepare();
    const first = send(path, body);
    await providerWasCalled.promise;
    await passSixSeconds();
    const retry = await send(path, body);
    expect([retry.status, retry.body.status]).toEqual([201, 'pending']);
    providerMayRespond.resolve();
    const response = await first;
    expect([response.text, response.headers.get('idempotent-replayed')]).toEqual([retry.text, 'true']);
    expect((await send(path, body)).text).toBe(retry.text);
    expect((await till.get(retry.headers.get('location')?.replace('/api/v1', '') ?? '')).status).toBe('succeeded');
  });
});
