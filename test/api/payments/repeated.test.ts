import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import { indexPaymentProviders } from '../../../server/payments/providers/payment-provider.ts';
import { createTestProvider } from '../../../server/payments/providers/test-provider.ts';
import type { Answer } from '../../support/server/start-mandate.ts';
import { openTill, type Till } from '../../support/order-arithmetic.ts';
import { needsOneProcess } from '../../support/server/process-mode.ts';

needsOneProcess('holds up a payment provider of its own');

/** A provider that answers when it is told to, and that of the refunds as well. */
let waiting = Promise.withResolvers<void>();
let asked = Promise.withResolvers<void>();
let till: Till;
const hesitant = () => {
  const provider = createTestProvider();
  const hesitate = async (): Promise<void> => {
    asked.resolve();
    await waiting.promise;
  };
  return {
    ...provider,
    create: (request: Parameters<typeof provider.create>[0]) => hesitate().then(() => provider.create(request)),
    refund: (reference: string, request: Parameters<typeof provider.refund>[1]) =>
      hesitate().then(() => provider.refund(reference, request)),
  };
};

beforeAll(async () => {
  till = await openTill(indexPaymentProviders(manualProvider, hesitant()));
});
afterEach(() => {
  waiting = Promise.withResolvers();
  asked = Promise.withResolvers();
});
afterAll(() => till.mandate.close());

const key = { 'idempotency-key': 'once' };
const send = (path: string, body: object): Promise<Answer> =>
  till.mandate.call('POST', `/api/v1${path}`, { token: till.shop.token, body, headers: key });
/** As if the request had been sent so long ago that nobody waits for its answer any more. */
const passSixSeconds = () =>
  till.mandate.db.em.fork().execute(`update idempotency_keys set created_at = now() - interval '6 seconds' where status is null`);
const forget = () => till.mandate.db.em.fork().execute('delete from idempotency_keys');

const operations = {
  payment: async () => ({ path: `/orders/${(await till.order()).id}/payments`, body: { provider: 'test', method_token: 'test_ok' } }),
  refund: async () => {
    waiting.resolve();
    const order = await till.paidOrder();
    waiting = Promise.withResolvers();
    asked = Promise.withResolvers();
    return { path: `/orders/${order.id}/refunds`, body: { amount: 100 } };
  },
};

describe.each(Object.entries(operations))('a %s that is sent again while the provider has not answered the first', (_what, prepare) => {
  afterEach(forget);

  test('is to be tried again, and then has the answer of the first, byte for byte', async () => {
    const { path, body } = await prepare();
    const first = send(path, body);
    await asked.promise;
    const twin = await send(path, body);
    expect([twin.status, twin.body.code, twin.headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '1']);
    expect((await send(path, { ...body, note: 'another' })).status).not.toBe(201);
    waiting.resolve();
    const answer = await first;
    expect([answer.status, answer.body.status]).toEqual([201, 'succeeded']);
    const again = await send(path, body);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([answer.text, 'true']);
    expect(again.headers.get('location')).toBe(answer.headers.get('location'));
    expect((await till.get(path)).data).toHaveLength(1);
  });

  test('is answered when the first has been silent for long; the first then gets the same', async () => {
    const { path, body } = await prepare();
    const first = send(path, body);
    await asked.promise;
    await passSixSeconds();
    const twin = await send(path, body);
    expect([twin.status, twin.body.status]).toEqual([201, 'pending']);
    waiting.resolve();
    const answer = await first;
    expect([answer.text, answer.headers.get('idempotent-replayed')]).toEqual([twin.text, 'true']);
    expect((await send(path, body)).text).toBe(twin.text);
    expect((await till.get(twin.headers.get('location')?.replace('/api/v1', '') ?? '')).status).toBe('succeeded');
  });
});
