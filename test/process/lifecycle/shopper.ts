import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { administrationToken } from '../../support/server/server-process.ts';

/** Somebody who places orders for the demonstration customer. */
export type Shopper = {
  readonly url: string;
  readonly token: string;
  readonly userId: number;
  readonly productId: number;
  readonly stock: number;
};

const entity = z.object({ id: z.number() }).passthrough();
const stocked = z.object({ stock: z.number() });
const counted = z.object({ total_count: z.number() });
const order = z.object({ id: z.number(), reference: z.string(), total: z.number() }).passthrough();

export type PlacedOrder = z.infer<typeof order>;

async function call(who: Pick<Shopper, 'url' | 'token'>, path: string, body?: unknown, key?: string): Promise<unknown> {
  const response = await fetch(`${who.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${who.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

export async function shopper(url: string, dataDirectory: string): Promise<Shopper> {
  const token = await administrationToken(url, dataDirectory);
  const customer = entity.parse(await call({ url, token }, '/users', { name: 'Ada Lovelace', email: `${randomUUID()}@example.com` }));
  const stock = 1_000_000;
  const item = { sku: randomUUID(), name: 'Something to buy', category: 'planted', price: 250, currency: 'GBP', status: 'active', stock };
  const product = entity.parse(await call({ url, token }, '/products', item));
  return { url, token, userId: customer.id, productId: product.id, stock };
}

/** One unit, so that the units that are gone are the orders that there are; under one key for each reference, so that it can be sent again. */
export const placeOrder = async (who: Shopper, reference: string): Promise<PlacedOrder> =>
  order.parse(
    await call(
      who,
      '/orders',
      {
        user_id: who.userId,
        items: [{ product_id: who.productId, quantity: 1 }],
        delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
        reference,
      },
      reference.replaceAll(' ', '-'),
    ),
  );

export const readOrder = async (who: Shopper, id: number): Promise<PlacedOrder> => order.parse(await call(who, `/orders/${id}`));

export const stockOf = async (who: Shopper): Promise<number> => stocked.parse(await call(who, `/products/${who.productId}`)).stock;

export const countOrders = async (who: Shopper): Promise<number> =>
  counted.parse(await call(who, '/orders?limit=1&include_total=true')).total_count;
