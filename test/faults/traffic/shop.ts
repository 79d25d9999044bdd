import { randomUUID } from 'node:crypto';
import type { Administration } from './administration.ts';
import type { Asked } from '../audit/confirmed-writes.ts';

/** One customer and a few products of their own, so that every unit that is missing was sold to them. */
export type FaultShop = { readonly userId: number; readonly products: readonly number[]; readonly stock: number };

const stock = 1_000_000;

export async function openFaultShop(administration: Administration): Promise<FaultShop> {
  const userId = await administration.make('/users', () => ({ name: 'Grace Hopper', email: `${randomUUID()}@example.com` }));
  const product = { name: 'Something to buy', category: 'faults', price: 250, currency: 'GBP', status: 'active', stock };
  const products: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) products.push(await administration.make('/products', () => ({ ...product, sku: randomUUID() })));
  return { userId, products, stock };
}

/** An order of two units, of one product or of two. */
export function orderOf({ userId, products }: FaultShop, nth: number): Asked {
  const [first, second] = [products[nth % products.length], products[(nth + 1) % products.length]];
  const items = nth % 2 === 0 ? [{ product_id: first, quantity: 2 }] : [first, second].map((id) => ({ product_id: id, quantity: 1 }));
  const key = randomUUID();
  const delivery = { method: 'collection', recipient_name: 'Grace Hopper' };
  return { key, path: '/orders', body: JSON.stringify({ user_id: userId, items, delivery, reference: key }) };
}

/** How many units every order takes. */
export const unitsOfAnOrder = 2;
