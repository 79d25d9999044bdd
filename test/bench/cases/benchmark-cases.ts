import { randomUUID } from 'node:crypto';
import { clientCredentialsTraffic, refreshTraffic, signInTraffic } from './oauth-traffic.ts';
import { proxyHeaders } from '../servers/tls-proxy.ts';
import type { ServerName, Target } from '../servers/target.ts';
import type { RequestSpec, Traffic } from '../load-generator/traffic.ts';

/** Requests sent alternately to several servers, and goals for the servers' throughput ratios. */
export type BenchmarkCase = {
  readonly name: string;
  readonly title: string;
  readonly subject: ServerName;
  readonly peers: readonly ServerName[];
  /** Minimum throughput of the measured server, as a multiple of each peer's throughput. */
  readonly goals: Readonly<Partial<Record<ServerName, number>>>;
  readonly traffic: (target: Target) => Promise<Traffic> | Traffic;
};

const randomId = (count: number): number => 1 + Math.floor(Math.random() * count);

const authorized = async ({ token }: Target): Promise<Record<string, string>> => ({
  authorization: `Bearer ${await token()}`,
  ...proxyHeaders,
});

const placeOrderTraffic =
  (products: (target: Target) => readonly number[]) =>
  async (target: Target): Promise<Traffic> => {
    const headers = { ...(await authorized(target)), 'content-type': 'application/json' };
    const first = (): RequestSpec => ({
      method: 'POST',
      path: '/api/v1/orders',
      headers: { ...headers, 'idempotency-key': randomUUID() },
      body: JSON.stringify({
        user_id: randomId(target.shop.users),
        items: products(target).map((id) => ({ product_id: id, quantity: 1 })),
        delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
      }),
    });
    return { first };
  };

/** Returns the IDs of three different products, because an order may contain a product only once. */
export const threeProducts = (of: number): readonly number[] => {
  const [first, step] = [randomId(of), Math.floor(of / 3)];
  return [0, 1, 2].map((n) => 1 + ((first + n * step) % of));
};

/** Reads a random order. */
export async function readOrderTraffic(target: Target): Promise<Traffic> {
  const headers = await authorized(target);
  return { first: () => ({ path: `/api/v1/orders/${randomId(target.shop.orders)}`, headers }) };
}

async function listOrdersTraffic(target: Target): Promise<Traffic> {
  const headers = await authorized(target);
  return { first: () => ({ path: `/api/v1/orders?user_id=${randomId(target.shop.users)}`, headers }) };
}

const subject = 'mandate';

export const cases: readonly BenchmarkCase[] = [
  {
    name: 'read-order',
    title: 'read one order',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1, fastify: 2.5 },
    traffic: readOrderTraffic,
  },
  {
    name: 'list-orders',
    title: 'list 20 orders of a customer',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1 },
    traffic: listOrdersTraffic,
  },
  {
    name: 'list-products',
    title: 'list 20 products, without a token',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1.2 },
    traffic: () => ({ first: () => ({ path: '/api/v1/products', headers: proxyHeaders }) }),
  },
  {
    name: 'create-order',
    title: 'create an order, 3 lines over all products',
    subject,
    peers: ['floor', 'orm'],
    goals: { floor: 0.9, orm: 3 },
    traffic: placeOrderTraffic(({ shop }) => threeProducts(shop.products)),
  },
  {
    name: 'create-order-hot',
    title: 'create an order, 3 lines over 5 products',
    subject,
    peers: ['floor', 'orm'],
    goals: {},
    traffic: placeOrderTraffic(() => threeProducts(5)),
  },
  {
    name: 'refresh',
    title: 'refresh a token',
    subject,
    peers: ['oidc-provider'],
    goals: { 'oidc-provider': 0.5 },
    traffic: refreshTraffic,
  },
  {
    name: 'client-credentials',
    title: 'client credentials',
    subject,
    peers: ['oidc-provider'],
    goals: {},
    traffic: clientCredentialsTraffic,
  },
  {
    name: 'sign-in',
    title: 'sign in: authorization request and token request',
    subject,
    peers: ['oidc-provider'],
    goals: {},
    traffic: signInTraffic,
  },
  {
    name: 'read-order-pglite',
    title: 'read one order, on PGlite',
    subject: 'mandate-pglite',
    peers: ['mandate'],
    goals: {},
    traffic: readOrderTraffic,
  },
];
