import type { Traffic } from '../load-generator/traffic.ts';
import type { ServerName, Target } from '../servers/target.ts';
import {
  listOwnOrdersTraffic,
  listProductsTraffic,
  placeAndPayTraffic,
  placeOrdersTraffic,
  readAnyOrderTraffic,
  readOwnOrdersTraffic,
} from './api-traffic.ts';
import { clientCredentialsTraffic, refreshTraffic, signInTraffic } from './oauth-traffic.ts';

/** Requests that are sent to several servers in turn, and goals for the servers' throughput ratios. */
export type BenchmarkCase = {
  readonly name: string;
  readonly title: string;
  readonly subject: ServerName;
  readonly peers: readonly ServerName[];
  /** Minimum throughput of the measured server, as a multiple of each peer's throughput. */
  readonly goals: Readonly<Partial<Record<ServerName, number>>>;
  /** Minimum throughput of the measured server, in requests per second. */
  readonly perSecondGoal?: number;
  readonly traffic: (target: Target) => Promise<Traffic> | Traffic;
};

const subject = 'mandate';

export const cases: readonly BenchmarkCase[] = [
  {
    name: 'read-own-order',
    title: 'read one of the customer’s orders',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1, fastify: 2 },
    traffic: readOwnOrdersTraffic,
  },
  {
    name: 'read-any-order',
    title: 'read any order, one staff token for all requests',
    subject,
    peers: ['floor', 'fastify'],
    goals: {},
    traffic: readAnyOrderTraffic,
  },
  {
    name: 'list-own-orders',
    title: 'list the customer’s orders, with filters and pages',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1 },
    traffic: listOwnOrdersTraffic,
  },
  {
    name: 'list-products',
    title: 'list products without a token, with categories and pages',
    subject,
    peers: ['floor', 'fastify'],
    goals: { floor: 1.2 },
    traffic: listProductsTraffic,
  },
  {
    name: 'create-order',
    title: 'create an order, 3 lines, some products more popular than others',
    subject,
    peers: ['floor', 'orm'],
    goals: { floor: 0.9, orm: 3 },
    traffic: placeOrdersTraffic(({ shop }) => shop.products),
  },
  {
    name: 'create-order-hot',
    title: 'create an order, 3 lines over 5 products',
    subject,
    peers: ['floor', 'orm'],
    goals: {},
    traffic: placeOrdersTraffic(() => 5),
  },
  {
    name: 'place-and-pay',
    title: 'create an order and pay for it with the test provider (two requests)',
    subject,
    peers: [],
    goals: {},
    perSecondGoal: 500,
    traffic: placeAndPayTraffic,
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
    goals: { 'oidc-provider': 0.4 },
    traffic: clientCredentialsTraffic,
  },
  {
    name: 'sign-in',
    title: 'sign in: authorization request and token request',
    subject,
    peers: ['oidc-provider'],
    goals: { 'oidc-provider': 0.4 },
    traffic: signInTraffic,
  },
  {
    name: 'read-own-order-pglite',
    title: 'read one of the customer’s orders, on PGlite',
    subject: 'mandate-pglite',
    peers: ['mandate'],
    goals: {},
    traffic: readOwnOrdersTraffic,
  },
];
