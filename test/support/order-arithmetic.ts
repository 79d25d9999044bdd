import { expect } from 'vitest';
import { manualProvider } from '../../server/payments/providers/manual-provider.ts';
import { type PaymentProviders, indexPaymentProviders } from '../../server/payments/providers/payment-provider.ts';
import { type TestProvider, createTestProvider } from '../../server/payments/providers/test-provider.ts';
import { startMandate, type Answer, type Body, type Mandate } from './server/start-mandate.ts';
import type { Given } from './server/start-options.ts';
import { inTwoProcesses } from './server/process-mode.ts';
import { openShop, pickup, type Shop } from './server/shop.ts';

/** A server with the test payment provider, and functions that place and pay orders. */
export type Till = {
  readonly mandate: Mandate;
  readonly shop: Shop;
  readonly provider: TestProvider;
  readonly providers: PaymentProviders;
  /** Places an unpaid order of a new user. */
  order(options?: { quantity?: number; stock?: number; lines?: number }): Promise<Body>;
  /** Places an order and pays it. */
  paidOrder(options?: { quantity?: number; stock?: number; lines?: number }): Promise<Body>;
  pay(orderId: number, method?: string, provider?: string): Promise<Answer>;
  get(path: string): Promise<Body>;
  post(path: string, body?: object): Promise<Answer>;
  stock(productId: number): Promise<number>;
};

export async function openTill(customProviders?: PaymentProviders, startOptions: Pick<Given, 'previewVersions'> = {}): Promise<Till> {
  const provider = createTestProvider();
  const providers = customProviders ?? indexPaymentProviders(manualProvider, provider);
  const mandate = await startMandate({ ...startOptions, ...(!(inTwoProcesses && !customProviders) && { providers }) });
  const shop = await openShop(mandate);
  const { token } = shop;
  const post = (path: string, body?: object): Promise<Answer> =>
    mandate.call('POST', `/api/v1${path}`, { token, ...(body !== undefined && { body }) });
  const get = async (path: string): Promise<Body> => (await mandate.call('GET', `/api/v1${path}`, { token })).body;
  const pay: Till['pay'] = (orderId, method = 'test_ok', name = 'test') =>
    post(`/orders/${orderId}/payments`, { provider: name, ...(name === 'test' && { method_token: method }) });
  const order: Till['order'] = async ({ quantity = 2, stock = 10, lines = 1 } = {}) => {
    const user = await shop.user();
    const products = await Promise.all(Array.from({ length: lines }, () => shop.product({ stock })));
    const items = products.map(({ id }) => ({ product_id: id, quantity }));
    const placed = await post('/orders', { user_id: user.id, items, delivery: pickup });
    expect(placed.status).toBe(201);
    return placed.body;
  };
  return {
    mandate,
    shop,
    provider,
    providers,
    order,
    pay,
    get,
    post,
    async paidOrder(options) {
      const placed = await order(options);
      expect((await pay(placed.id)).body).toMatchObject({ status: 'succeeded' });
      return get(`/orders/${placed.id}`);
    },
    stock: async (productId) => (await get(`/products/${productId}`)).stock,
  };
}

export const soon = (): Date => new Date(Date.now() + 60_000);
/** Returns a time after the stock hold of an unpaid order has expired. */
export const later = (): Date => new Date(Date.now() + 31 * 60_000);
