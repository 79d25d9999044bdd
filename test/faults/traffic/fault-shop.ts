import { randomUUID } from 'node:crypto';
import type { AdministrationClient } from './administration-client.ts';
import type { WriteRequest } from './confirmed-writes.ts';

/** One customer and a few products that only this customer buys, so that stock and orders can be compared. */
export type FaultShop = { readonly userId: number; readonly products: readonly number[]; readonly stock: number };

const stock = 1_000_000;

export async function openFaultShop(administration: AdministrationClient): Promise<FaultShop> {
  const userId = await administration.create('/users', () => ({ name: 'Grace Hopper', email: `${randomUUID()}@example.com` }));
  const product = { name: 'Faults product', category: 'faults', price: 250, currency: 'GBP', status: 'active', stock };
  const products: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) products.push(await administration.create('/products', () => ({ ...product, sku: randomUUID() })));
  return { userId, products, stock };
}

/** Builds an order for two units: either two units of one product, or one unit each of two products. */
export function buildOrder({ userId, products }: FaultShop, nth: number): WriteRequest {
  const [first, second] = [products[nth % products.length], products[(nth + 1) % products.length]];
  const items = nth % 2 === 0 ? [{ product_id: first, quantity: 2 }] : [first, second].map((id) => ({ product_id: id, quantity: 1 }));
  const key = randomUUID();
  const delivery = { method: 'collection', recipient_name: 'Grace Hopper' };
  return { key, path: '/orders', body: JSON.stringify({ user_id: userId, items, delivery, reference: key }) };
}

/** Number of units in every order. */
export const unitsPerOrder = 2;
