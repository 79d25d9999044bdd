import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { obtainAdministrationToken } from '../../support/server/server-process.ts';

/** Data that an application needs to place orders for a user. */
export type OrderClient = {
  readonly url: string;
  readonly token: string;
  readonly userId: number;
  readonly productId: number;
  readonly stock: number;
};

const entity = z.object({ id: z.number() }).passthrough();
const stockSchema = z.object({ stock: z.number() });
const statisticsSchema = z.object({ totals: z.object({ orders: z.number() }) });
const countSchema = z.object({ total_count: z.number() });
const order = z.object({ id: z.number(), reference: z.string(), total: z.number() }).passthrough();

export type PlacedOrder = z.infer<typeof order>;

async function call(client: Pick<OrderClient, 'url' | 'token'>, path: string, body?: unknown, key?: string): Promise<unknown> {
  const response = await fetch(`${client.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${client.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const responseBody: unknown = await response.json();
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${JSON.stringify(responseBody)}`);
  return responseBody;
}

export async function createOrderClient(url: string, dataDirectory: string): Promise<OrderClient> {
  const token = await obtainAdministrationToken(url, dataDirectory);
  const customer = entity.parse(await call({ url, token }, '/users', { name: 'Ada Lovelace', email: `${randomUUID()}@example.com` }));
  const stock = 1_000_000;
  const item = { sku: randomUUID(), name: 'Product', category: 'planted', price: 250, currency: 'GBP', status: 'active', stock };
  const product = entity.parse(await call({ url, token }, '/products', item));
  return { url, token, userId: customer.id, productId: product.id, stock };
}

/**
 * Places an order for one unit, so that each order reduces the stock by one. The reference is the idempotency key, so calls can be
 * repeated.
 */
export const placeOrder = async (client: OrderClient, reference: string): Promise<PlacedOrder> =>
  order.parse(
    await call(
      client,
      '/orders',
      {
        user_id: client.userId,
        items: [{ product_id: client.productId, quantity: 1 }],
        delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
        reference,
      },
      reference.replaceAll(' ', '-'),
    ),
  );

export const readOrder = async (client: OrderClient, id: number): Promise<PlacedOrder> => order.parse(await call(client, `/orders/${id}`));

export const readStock = async (client: OrderClient): Promise<number> =>
  stockSchema.parse(await call(client, `/products/${client.productId}`)).stock;

export const countOrders = async (client: OrderClient): Promise<number> =>
  countSchema.parse(await call(client, '/orders?limit=1&include_total=true')).total_count;

/** Returns the number of orders in the statistics of the last 30 days. */
export const countOrdersInStatistics = async (client: OrderClient): Promise<number> =>
  statisticsSchema.parse(await call(client, '/statistics/orders?currency=GBP')).totals.orders;
