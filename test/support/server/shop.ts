import { randomBytes } from 'node:crypto';
import { scopeNames } from '@mandate/contract';
import { DeliveryMethod } from '../../../server/delivery-methods/delivery-method.entity.ts';
import type { Body, Mandate } from './start-mandate.ts';
import { clientCredentials, confidentialClient } from '../oauth/oauth-flow.ts';

/** Sample data of a shop: delivery methods, and an application with all scopes. */
export type Shop = {
  /** Access token of an application with all scopes (client credentials grant). */
  readonly token: string;
  /** Creates an active product. */
  product(overrides?: Record<string, unknown>): Promise<Body>;
  /** Creates a user without a password. */
  user(): Promise<Body>;
};

export const pickup = { method: 'pickup', recipient_name: 'Anna Test' };
export const address = { line1: '1 High Street', city: 'Leeds', postal_code: 'LS1 1AA', country: 'GB' };

export async function openShop(mandate: Mandate): Promise<Shop> {
  await mandate.db.em.fork().insertMany(DeliveryMethod, [
    { code: 'pickup', name: 'Pick up', price: 0, currency: 'EUR', requiresAddress: false, active: true },
    { code: 'standard', name: 'Standard', price: 395, currency: 'EUR', requiresAddress: true, active: true },
    { code: 'drone', name: 'Drone', price: 995, currency: 'EUR', requiresAddress: true, active: false },
    { code: 'overseas', name: 'Overseas', price: 9, currency: 'USD', requiresAddress: false, active: true },
  ]);
  const token = await clientCredentials(mandate.origin, await confidentialClient(mandate.db, scopeNames), scopeNames);
  const create = async (path: string, body: object): Promise<Body> => {
    const response = await mandate.call('POST', path, { token, body });
    if (response.status !== 201) throw new Error(response.text);
    return response.body;
  };
  return {
    token,
    product: (overrides = {}) => create('/api/v1/products', { ...someProduct(), ...overrides }),
    user: () => create('/api/v1/users', { name: 'Ben Test', email: `ben.${randomSuffix()}@example.com` }),
  };
}

const randomSuffix = (): string => randomBytes(6).toString('hex');

export const someProduct = (): Record<string, unknown> => ({
  sku: `SKU-${randomSuffix()}`,
  name: 'White hanging heart',
  category: 'decoration',
  price: 255,
  currency: 'EUR',
  stock: 100,
  status: 'active',
});
