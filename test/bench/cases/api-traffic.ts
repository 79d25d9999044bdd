import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { RequestSpec, Traffic } from '../load-generator/traffic.ts';
import { randomOwnOrder } from '../servers/customers.ts';
import { categoryCount } from '../servers/fill-shop.ts';
import { sendThroughProxy, issuer, proxyHeaders } from '../servers/tls-proxy.ts';
import type { Customer, Target } from '../servers/target.ts';
import { createZipfSampler } from './zipf.ts';

type Headers = Readonly<Record<string, string>>;

const bearer = (token: string): Headers => ({ ...proxyHeaders, authorization: `Bearer ${token}` });

/** Returns a random element. */
export function pick<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
}

export const readOwnOrder = (customer: Customer, { shop }: Pick<Target, 'shop'>): RequestSpec => ({
  path: `/api/v1/orders/${randomOwnOrder(customer, shop)}`,
  headers: bearer(customer.token),
});

/** Customers read their own orders. */
export async function readOwnOrdersTraffic(target: Target): Promise<Traffic> {
  const customers = await target.customers();
  return { first: () => readOwnOrder(pick(customers), target) };
}

/** Staff read any order, all with the same token. */
export async function readAnyOrderTraffic({ token, shop }: Target): Promise<Traffic> {
  const headers = bearer(await token());
  return { first: () => ({ path: `/api/v1/orders/${1 + Math.floor(Math.random() * shop.orders)}`, headers }) };
}

/**
 * Number of customers and categories for which the second page of results is also requested. Their first pages must be requested before the
 * measurement.
 */
const pagesMax = 50;
const smallPage = 'limit=5';

/** Customers list their orders: the first page, delivered orders, a small page and the page after it. */
export async function listOwnOrdersTraffic(target: Target): Promise<Traffic> {
  const customers = await target.customers();
  const secondPages = await findSecondPages(
    target,
    customers.slice(0, pagesMax).map(({ token }) => ({ path: `/api/v1/orders?${smallPage}`, headers: bearer(token) })),
  );
  const shapes = [
    (): RequestSpec => ({ path: '/api/v1/orders', headers: bearer(pick(customers).token) }),
    (): RequestSpec => ({ path: '/api/v1/orders?status=delivered', headers: bearer(pick(customers).token) }),
    (): RequestSpec => ({ path: `/api/v1/orders?${smallPage}`, headers: bearer(pick(customers).token) }),
    (): RequestSpec => pick(secondPages),
  ];
  return { first: () => pick(secondPages.length > 0 ? shapes : shapes.slice(0, -1))() };
}

/**
 * Visitors list products: the first page of all products, and the first and second pages of categories. Some categories are more popular
 * than others.
 */
export async function listProductsTraffic(target: Target): Promise<Traffic> {
  const rank = createZipfSampler(categoryCount);
  const categoryPath = (category: number): string => `/api/v1/products?category=category-${category}`;
  const categories = Array.from({ length: Math.min(categoryCount, pagesMax) }, (_, at) => categoryPath(at + 1));
  const secondPages = await findSecondPages(
    target,
    categories.map((path) => ({ path, headers: proxyHeaders })),
  );
  const shapes = [
    (): RequestSpec => ({ path: '/api/v1/products', headers: proxyHeaders }),
    (): RequestSpec => ({ path: categoryPath(rank()), headers: proxyHeaders }),
    (): RequestSpec => secondPages[rank() - 1] ?? pick(secondPages),
  ];
  return { first: () => pick(shapes)() };
}

const pageBody = z.object({ next_cursor: z.string().nullable() });

/** Requests the first pages of the lists and returns the requests for their second pages. */
async function findSecondPages({ measuredServer }: Target, firstPages: readonly Required<Pick<RequestSpec, 'path' | 'headers'>>[]) {
  const send = sendThroughProxy(measuredServer.origin);
  const secondPages: RequestSpec[] = [];
  for (const { path, headers } of firstPages) {
    const response = await send(new URL(path, issuer), { headers });
    const { next_cursor: cursor } = pageBody.parse(await response.json());
    if (cursor !== null) secondPages.push({ path: `${path}&cursor=${encodeURIComponent(cursor)}`, headers });
  }
  return secondPages;
}

const postJson = (path: string, token: string, idempotencyKey: string, body: unknown): RequestSpec & { readonly body: string } => ({
  method: 'POST',
  path,
  headers: { ...bearer(token), 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
  body: JSON.stringify(body),
});

/** Returns a request that places an order for three different products. */
export function createOrderRequest(token: string, drawProduct: () => number): RequestSpec {
  const products = new Set<number>();
  while (products.size < 3) products.add(drawProduct());
  return postJson('/api/v1/orders', token, randomUUID(), {
    items: [...products].map((id) => ({ product_id: id, quantity: 1 })),
    delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
  });
}

/** Customers place orders. The popularity of the first `count` products follows Zipf's law. */
export const placeOrdersTraffic =
  (count: (target: Target) => number) =>
  async (target: Target): Promise<Traffic> => {
    const customers = await target.customers();
    const drawProduct = createZipfSampler(count(target));
    return { first: () => createOrderRequest(pick(customers).token, drawProduct) };
  };

/** Customers place orders and pay for them. */
export async function placeAndPayTraffic(target: Target): Promise<Traffic> {
  const { first } = await placeOrdersTraffic(({ shop }) => shop.products)(target);
  const tokens = new Map((await target.customers()).map(({ userId, token }) => [String(userId), token]));
  const payment = { provider: 'test', method_token: 'test_ok' };
  return {
    first,
    next: {
      valueLocation: { in: 'body', after: '{"id":', until: ',' },
      customers: { location: { in: 'body', after: '"user_id":', until: ',' }, ids: [...tokens.keys()] },
      createRequest: (order, customer) =>
        postJson(`/api/v1/orders/${order}/payments`, tokens.get(customer) ?? '', `payment-of-${order}`, payment),
      countsAsOne: true,
    },
  };
}
