import { afterAll, beforeAll, expect } from 'vitest';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import { type PaymentProviders, indexPaymentProvidersByName } from '../../../server/payments/providers/payment-provider.ts';
import { type TestProvider, createTestProvider } from '../../../server/payments/providers/test-provider.ts';
import { startMandateServer, type ApiResponse, type JsonBody, type MandateServer } from '../server/start-mandate.ts';
import type { StartOptions } from '../server/start-options.ts';
import { usesTwoProcesses } from '../server/process-mode.ts';
import { createTestShop, pickupDelivery, type TestShop } from './test-shop.ts';

/** A server with the test payment provider, and functions that place orders and pay for them. */
export type PaymentTestShop = {
  readonly mandate: MandateServer;
  readonly shop: TestShop;
  readonly provider: TestProvider;
  readonly providers: PaymentProviders;
  /** Places an order for a new user without paying for it. */
  placeOrder(options?: { quantity?: number; stock?: number; lines?: number }): Promise<JsonBody>;
  /** Places an order for a new user and pays for it. */
  placePaidOrder(options?: { quantity?: number; stock?: number; lines?: number }): Promise<JsonBody>;
  createPayment(orderId: number, method?: string, provider?: string): Promise<ApiResponse>;
  get(path: string): Promise<JsonBody>;
  post(path: string, body?: object): Promise<ApiResponse>;
  stock(productId: number): Promise<number>;
};

export async function startPaymentTestShop(
  customProviders?: PaymentProviders,
  startOptions: Pick<StartOptions, 'previewVersions'> = {},
): Promise<PaymentTestShop> {
  const provider = createTestProvider();
  const providers = customProviders ?? indexPaymentProvidersByName(manualProvider, provider);
  const mandate = await startMandateServer({ ...startOptions, ...(!(usesTwoProcesses && !customProviders) && { providers }) });
  const shop = await createTestShop(mandate);
  const { token } = shop;
  const post = (path: string, body?: object): Promise<ApiResponse> =>
    mandate.callApi('POST', `/api/v1${path}`, { token, ...(body !== undefined && { body }) });
  const get = async (path: string): Promise<JsonBody> => (await mandate.callApi('GET', `/api/v1${path}`, { token })).body;
  const pay: PaymentTestShop['createPayment'] = (orderId, method = 'test_ok', name = 'test') =>
    post(`/orders/${orderId}/payments`, { provider: name, ...(name === 'test' && { method_token: method }) });
  const order: PaymentTestShop['placeOrder'] = async ({ quantity = 2, stock = 10, lines = 1 } = {}) => {
    const user = await shop.createUser();
    const products = await Promise.all(Array.from({ length: lines }, () => shop.createProduct({ stock })));
    const items = products.map(({ id }: JsonBody) => ({ product_id: id, quantity }));
    const placed = await post('/orders', { user_id: user.id, items, delivery: pickupDelivery });
    expect(placed.status).toBe(201);
    return placed.body;
  };
  return {
    mandate,
    shop,
    provider,
    providers,
    placeOrder: order,
    createPayment: pay,
    get,
    post,
    async placePaidOrder(options) {
      const placed = await order(options);
      expect((await pay(placed.id)).body).toMatchObject({ status: 'succeeded' });
      return get(`/orders/${placed.id}`);
    },
    stock: async (productId) => (await get(`/products/${productId}`)).stock,
  };
}

/** Starts a payment test shop before the tests of a file or `describe` block, and closes it after the tests. */
export function withPaymentTestShop(...given: Parameters<typeof startPaymentTestShop>): PaymentTestShop {
  let started: PaymentTestShop | undefined;
  const till = (): PaymentTestShop => {
    if (!started) throw new Error('the shop has not started');
    return started;
  };
  beforeAll(async () => {
    started = await startPaymentTestShop(...given);
  });
  afterAll(() => started?.mandate.close());
  return {
    get mandate() {
      return till().mandate;
    },
    get shop() {
      return till().shop;
    },
    get provider() {
      return till().provider;
    },
    get providers() {
      return till().providers;
    },
    placeOrder: (options) => till().placeOrder(options),
    placePaidOrder: (options) => till().placePaidOrder(options),
    createPayment: (...payment) => till().createPayment(...payment),
    get: (path) => till().get(path),
    post: (...request) => till().post(...request),
    stock: (productId) => till().stock(productId),
  };
}

export const inOneMinute = (): Date => new Date(Date.now() + 60_000);
/** Returns a time at which an unpaid order that is placed now no longer reserves stock. */
export const afterOrderHold = (): Date => new Date(Date.now() + 31 * 60_000);
