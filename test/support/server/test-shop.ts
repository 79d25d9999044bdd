import { randomBytes } from 'node:crypto';
import { scopeNames } from '@mandate/contract';
import { DeliveryMethod } from '../../../server/delivery-methods/delivery-method.entity.ts';
import type { JsonBody, MandateServer } from './start-mandate.ts';
import { obtainClientToken, createConfidentialClient } from '../oauth/oauth-flow.ts';

/** A shop's sample data: delivery methods, and an application with all scopes. */
export type TestShop = {
  /** Access token for an application with all scopes (client credentials grant). */
  readonly token: string;
  /** Creates an active product. */
  createProduct(overrides?: Record<string, unknown>): Promise<JsonBody>;
  /** Creates a user without a password. */
  createUser(): Promise<JsonBody>;
};

export const pickupDelivery = { method: 'pickup', recipient_name: 'Anna Test' };
export const deliveryAddress = { line1: '1 High Street', city: 'Leeds', postal_code: 'LS1 1AA', country: 'GB' };

export async function createTestShop(mandate: MandateServer): Promise<TestShop> {
  await mandate.db.em.fork().insertMany(DeliveryMethod, [
    { code: 'pickup', name: 'Pick up', price: 0, currency: 'EUR', requiresAddress: false, active: true },
    { code: 'standard', name: 'Standard', price: 395, currency: 'EUR', requiresAddress: true, active: true },
    { code: 'drone', name: 'Drone', price: 995, currency: 'EUR', requiresAddress: true, active: false },
    { code: 'overseas', name: 'Overseas', price: 9, currency: 'USD', requiresAddress: false, active: true },
  ]);
  const token = await obtainClientToken(mandate.origin, await createConfidentialClient(mandate.db, scopeNames), scopeNames);
  const create = async (path: string, body: object): Promise<JsonBody> => {
    const response = await mandate.callApi('POST', path, { token, body });
    if (response.status !== 201) throw new Error(response.text);
    return response.body;
  };
  return {
    token,
    createProduct: (overrides = {}) => create('/api/v1/products', { ...buildProductInput(), ...overrides }),
    createUser: () => create('/api/v1/users', { name: 'Ben Test', email: `ben.${randomSuffix()}@example.com` }),
  };
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
