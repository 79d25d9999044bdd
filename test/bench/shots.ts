import { randomUUID } from 'node:crypto';
import type { Shot } from './measure.ts';
import { type Stage, throughProxy } from './stage.ts';

/** What of everything that is measured goes over HTTP at a steady state: the same request to each server. */
export type Case = {
  readonly name: string;
  readonly title: string;
  readonly peers: readonly (keyof Stage['peers'])[];
  readonly goals: Readonly<Partial<Record<keyof Stage['peers'], number>>>;
  readonly shot: (stage: Stage) => () => Shot;
};

const anyOf = (count: number): number => 1 + Math.floor(Math.random() * count);

const authorized = ({ token }: Stage): Record<string, string> => ({ authorization: `Bearer ${token}`, ...throughProxy });

const order = (stage: Stage, products: () => readonly number[]) => (): Shot => ({
  method: 'POST',
  path: '/api/v1/orders',
  headers: { ...authorized(stage), 'content-type': 'application/json', 'idempotency-key': randomUUID() },
  body: JSON.stringify({
    user_id: anyOf(stage.shop.users),
    items: products().map((id) => ({ product_id: id, quantity: 1 })),
    delivery: { method: 'collection', recipient_name: 'Ada Lovelace' },
  }),
});

/** Three different products of so many, so that nobody asks for the same one twice. */
const three = (of: number): readonly number[] => {
  const [first, step] = [anyOf(of), Math.floor(of / 3)];
  return [0, 1, 2].map((n) => 1 + ((first + n * step) % of));
};

export const cases: readonly Case[] = [
  {
    name: 'read-order',
    title: 'read one order',
    peers: ['floor', 'fastify'],
    goals: { floor: 1, fastify: 2.5 },
    shot: (stage) => () => ({ path: `/api/v1/orders/${anyOf(stage.shop.orders)}`, headers: authorized(stage) }),
  },
  {
    name: 'list-orders',
    title: 'list 20 orders of a customer',
    peers: ['floor', 'fastify'],
    goals: { floor: 1 },
    shot: (stage) => () => ({ path: `/api/v1/orders?user_id=${anyOf(stage.shop.users)}`, headers: authorized(stage) }),
  },
  {
    name: 'list-products',
    title: 'list 20 products, without a token',
    peers: ['floor', 'fastify'],
    goals: { floor: 1.2 },
    shot: () => () => ({ path: '/api/v1/products', headers: throughProxy }),
  },
  {
    name: 'create-order',
    title: 'create an order, 3 lines over all products',
    peers: ['floor', 'orm'],
    goals: { floor: 0.9, orm: 3 },
    shot: (stage) => order(stage, () => three(stage.shop.products)),
  },
  {
    name: 'create-order-hot',
    title: 'create an order, 3 lines over 5 products',
    peers: ['floor', 'orm'],
    goals: {},
    shot: (stage) => order(stage, () => three(5)),
  },
];
