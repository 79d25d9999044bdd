import { randomUUID } from 'node:crypto';
import { clientCredentialsTraffic, refreshTraffic, signInTraffic } from './oauth-traffic.ts';
import { throughProxy } from './servers/load-balancer.ts';
import type { ServerName, Target } from './servers/target.ts';
import type { Shot, Traffic } from './traffic.ts';

/** What is sent to each server in turn. */
export type Case = {
  readonly name: string;
  readonly title: string;
  readonly subject: ServerName;
  readonly peers: readonly ServerName[];
  /** How many times as much as a peer. */
  readonly goals: Readonly<Partial<Record<ServerName, number>>>;
  readonly traffic: (target: Target) => Promise<Traffic> | Traffic;
};

const anyOf = (count: number): number => 1 + Math.floor(Math.random() * count);

const authorized = async ({ token }: Target): Promise<Record<string, string>> => ({
  authorization: `Bearer ${await token()}`,
  ...throughProxy,
});

const orders =
  (products: (target: Target) => readonly number[]) =>
  async (target: Target): Promise<Traffic> => {
    const headers = { ...(await authorized(target)), 'content-type': 'application/json' };
    const first = (): Shot => ({
      method: 'POST',
      path: '/api/v1/orders',
      headers: { ...headers, 'idempotency-key': randomUUID() },
      body: JSON.stringify({
        user_id: anyOf(target.shop.users),
        items: products(target).map((id) => ({ product_id: id, quantity: 1 })),
        delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
      }),
    });
    return { first };
  };

/** Three different products of so many, so that nobody asks for the same one twice. */
const three = (of: number): readonly number[] => {
  const [first, step] = [anyOf(of), Math.floor(of / 3)];
  return [0, 1, 2].map((n) => 1 + ((first + n * step) % of));
};

/** Any one order. */
export async function readOrder(target: Target): Promise<Traffic> {
  const headers = await authorized(target);
  return { first: () => ({ path: `/api/v1/orders/${anyOf(target.shop.orders)}`, headers }) };
}

async function listOrders(target: Target): Promise<Traffic> {
  const headers = await authorized(target);
  return { first: () => ({ path: `/api/v1/orders?user_id=${anyOf(target.shop.users)}`, headers }) };
}

const subject = 'mandate';

export const cases: readonly Case[] = [
  {
    name: 'read-order',
    title: 'read one order',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1, fastify: 2.5 },
    traffic: readOrder,
  },
  {
    name: 'list-orders',
    title: 'list 20 orders of a customer',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1 },
    traffic: listOrders,
  },
  {
    name: 'list-products',
    title: 'list 20 products, without a token',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1.2 },
    traffic: () => ({ first: () => ({ path: '/api/v1/products', headers: throughProxy }) }),
  },
  {
    name: 'create-order',
    title: 'create an order, 3 lines over all products',
    subject,
    peers: ['floor', 'orm'],
    goals: { floor: 0.9, orm: 3 },
    traffic: orders(({ shop }) => three(shop.products)),
  },
  {
    name: 'create-order-hot',
    title: 'create an order, 3 lines over 5 products',
    subject,
    peers: ['floor', 'orm'],
    goals: {},
    traffic: orders(() => three(5)),
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
    title: 'sign in by code: authorization request and token',
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
    traffic: readOrder,
  },
];
