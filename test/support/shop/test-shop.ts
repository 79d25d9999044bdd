import { randomBytes } from 'node:crypto';
import { scopeNames } from '@mandate/contract';
import { DeliveryMethod } from '../../../server/delivery-methods/delivery-method.entity.ts';
import type { ApiServer, JsonBody } from '../server/start-mandate.ts';
import { obtainClientToken, createConfidentialClient } from '../oauth/oauth-flow.ts';

/** A shop's sample data: delivery methods, and an application with all scopes. */
export type TestShop = {
  /** Access token for an application with all scopes (client credentials grant). */
  readonly token: string;
  /** Creates an active product. */
  createProduct(overrides?: Record<string, unknown>): Promise<JsonBody>;
  /** Returns the available stock of a product. */
  getStock(product: JsonBody): Promise<number>;
  /** Creates a user without a password. */
  createUser(): Promise<JsonBody>;
  /** Places an order with this token (default: the shop's token, for a new user). Without `items`, orders a new product. */
  placeOrder(order?: Record<string, unknown>, token?: string): Promise<JsonBody>;
};

export const pickupDelivery = { method: 'pickup', recipient_name: 'Anna Test' };
export const deliveryAddress = { line1: '1 High Street', city: 'Leeds', postal_code: 'LS1 1AA', country: 'GB' };

/** Returns the request body for an order of these products and quantities, with pickup as the delivery method. */
export const buildOrderInput = (...items: readonly [product: JsonBody, quantity: number][]) => ({
  items: items.map(([{ id }, quantity]) => ({ product_id: id, quantity })),
  delivery: pickupDelivery,
});

export async function createTestShop(server: ApiServer): Promise<TestShop> {
  await server.db.em.fork().insertMany(DeliveryMethod, [
    { code: 'pickup', name: 'Pick up', price: 0, currency: 'EUR', requiresAddress: false, active: true },
    { code: 'standard', name: 'Standard', price: 395, currency: 'EUR', requiresAddress: true, active: true },
    { code: 'drone', name: 'Drone', price: 995, currency: 'EUR', requiresAddress: true, active: false },
    { code: 'overseas', name: 'Overseas', price: 9, currency: 'USD', requiresAddress: false, active: true },
  ]);
  const token = await obtainClientToken(server.origin, await createConfidentialClient(server.db, scopeNames), scopeNames);
  const create = async (path: string, body: object, creator = token): Promise<JsonBody> => {
    const response = await server.callApi('POST', path, { token: creator, body });
    if (response.status !== 201) throw new Error(response.text);
    return response.body;
  };
  const createProduct: TestShop['createProduct'] = (overrides = {}) => create('/api/v1/products', { ...buildProductInput(), ...overrides });
  const createUser: TestShop['createUser'] = () =>
    create('/api/v1/users', { name: 'Ben Test', email: `ben.${randomSuffix()}@example.com` });
  return {
    token,
    createProduct,
    getStock: async ({ id }) => (await server.callApi('GET', `/api/v1/products/${id}`)).body.stock,
    createUser,
    async placeOrder(order = {}, customerToken) {
      const items = order['items'] ?? [{ product_id: (await createProduct()).id, quantity: 1 }];
      const customer = customerToken === undefined && { user_id: (await createUser()).id };
      return create('/api/v1/orders', { delivery: pickupDelivery, ...customer, ...order, items }, customerToken);
    },
  };
}

const sharedShops = new WeakMap<ApiServer, Promise<TestShop>>();

/** Returns the server's sample data. The first call creates the sample data. */
export function loadSharedTestShop(server: ApiServer): Promise<TestShop> {
  const shop = sharedShops.get(server) ?? createTestShop(server);
  sharedShops.set(server, shop);
  return shop;
}

const randomSuffix = (): string => randomBytes(6).toString('hex');

export const buildProductInput = (): Record<string, unknown> => ({
  sku: `SKU-${randomSuffix()}`,
  name: 'White hanging heart',
  category: 'decoration',
  price: 255,
  currency: 'EUR',
  stock: 100,
  status: 'active',
});
