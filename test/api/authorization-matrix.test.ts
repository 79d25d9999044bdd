/**
 * Who may do what: for every operation of the contract, what each kind of caller is answered. An operation without a row fails.
 */
import { contract, contractV2, listRoutes, scopeNames, scopeDefinitions, maxWebhookEndpoints } from '@mandate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignEventSequence } from '../../server/events/assign-sequence.ts';
import { startMandate, type Body, type Mandate } from '../support/server/start-mandate.ts';
import { generous } from '../support/server/start-options.ts';
import { operationOf } from '../support/contract/declared-responses.ts';
import { collectionsAsDeclared } from '../support/contract/collection-assertions.ts';
import { failsAsDeclared } from '../support/contract/problem-assertions.ts';
import { signUp, signUpAs, tokensFor, type Person } from '../support/oauth/oauth-flow.ts';
import { formerKeys, type Spoilers, type Valid } from '../support/contract/provoke-problems.ts';
import { replaysAsDeclared } from '../support/contract/replay-assertions.ts';
import { openShop, pickup, type Shop, someProduct } from '../support/server/shop.ts';

/** No token; the owner's token with a scope that serves for something else; a customer with every scope a customer can give, and not the owner; the owner; ...; and a key that the owner made for everything a key can do. */
const callers = ['nobody', 'scopeless', 'stranger', 'owner', 'staff', 'admin', 'application', 'apiKey'] as const;
type Caller = (typeof callers)[number];
type Statuses = readonly [number, number, number, number, number, number, number, number];
type Sent = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

let mandate: Mandate;
let shop: Shop;
let owner: Person;
const tokens: Partial<Record<Caller, string>> = {};
let forUsers: string;
let forOrders: string;
let spoilers: Omit<Spoilers, 'scopeless'>;
const rateLimits = { ...generous };

beforeAll(async () => {
  mandate = await startMandate({
    rateLimits,
    previewVersions: true,
    onLogLine: () => undefined,
  });
  shop = await openShop(mandate);
  owner = await signUp(mandate.origin);
  const customers = scopeNames.filter((name) => !scopeDefinitions[name].admin);
  const tokenOf = async (person: Person, names: typeof scopeNames): Promise<string> =>
    (await tokensFor(mandate.origin, person, names)).access_token;
  forUsers = await tokenOf(owner, ['users.read']);
  forOrders = await tokenOf(owner, ['orders.read']);
  tokens.owner = await tokenOf(owner, customers);
  tokens.stranger = await tokenOf(await signUp(mandate.origin), customers);
  tokens.staff = await tokenOf(await signUpAs(mandate.db, mandate.origin, 'staff'), scopeNames);
  tokens.admin = await tokenOf(await signUpAs(mandate.db, mandate.origin, 'admin'), scopeNames);
  tokens.application = shop.token;
  const keyed = customers.filter((name) => name !== 'api_keys.manage');
  tokens.apiKey = (await made('POST', '/api-keys', { name: 'All of it', scopes: keyed }, tokens.owner)).key;
  for (const _ of [1, 2]) await shop.product();
  const { body: products } = await mandate.call('GET', '/api/v1/products?limit=1');
  const former = await signUpAs(mandate.db, mandate.origin, 'admin');
  const staffScopes = await tokenOf(
    former,
    scopeNames.filter((name) => scopeDefinitions[name].admin),
  );
  await mandate.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [former.id]);
  spoilers = { staffScopes, ...(await formerKeys(mandate, tokens.owner)), cursor: products.next_cursor };
});
afterAll(() => mandate.close());

async function made(method: string, path: string, body: unknown, token: string | undefined = shop.token): Promise<Body> {
  const answer = await mandate.call(method, `/api/v1${path}`, { ...(token !== undefined && { token }), body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}

let names = 0;
const unique = (): string => `unique_${++names}`;
const newOrder = async (): Promise<Body> => ({ items: [{ product_id: (await shop.product()).id, quantity: 1 }], delivery: pickup });
const order = async (): Promise<number> => (await made('POST', '/orders', await newOrder(), tokens.owner)).id;
const payment = async (): Promise<Body> => made('POST', `/orders/${await order()}/payments`, { provider: 'manual' });
async function paidOrder(): Promise<number> {
  const { id, order_id } = await payment();
  await made('POST', `/payments/${id}/confirmation`, {});
  return order_id;
}
const refund = async (): Promise<number> => (await made('POST', `/orders/${await paidOrder()}/refunds`, { reason: 'other' })).id;
const shipment = async (): Promise<number> => (await made('POST', `/orders/${await paidOrder()}/shipments`, {})).id;
async function task(): Promise<number> {
  await finishTasks();
  return (await made('POST', '/order-exports', {}, tokens.owner)).id;
}
async function orderEvent(): Promise<number> {
  const id = await order();
  await assignEventSequence(mandate.db.em.fork());
  const { body } = await mandate.call('GET', `/api/v1/events?subject_type=order&subject_id=${id}`, { token: shop.token });
  return body.data[0].id;
}
/** Only two at once are allowed. */
const finishTasks = (): Promise<unknown> =>
  mandate.db.em.fork().execute(`update tasks set status = 'canceled', finished_at = now() where status = 'queued'`);
async function starting(sent: Sent): Promise<Sent> {
  await finishTasks();
  return sent;
}
const customer = async (): Promise<number> => (await signUp(mandate.origin)).id;

const publicly: Statuses = [200, 200, 200, 200, 200, 200, 200, 200];
const own: Statuses = [401, 403, 404, 200, 200, 200, 200, 200];
const ownList: Statuses = [401, 403, 403, 200, 200, 200, 200, 200];
const ownCreated: Statuses = [401, 403, 404, 201, 201, 201, 201, 201];
const staffOnly = (status: number): Statuses => [401, 403, 403, 403, status, status, status, 403];
/** Staff see a task only when they started it: it holds what its own person may see. */
const personal = (status: number): Statuses => [401, 403, 404, status, 404, 404, 404, status];

const administrators = (status: number): Statuses => [401, 403, 403, 403, 403, status, status, 403];
const someApplication = { name: 'A', type: 'confidential', grant_types: ['client_credentials'], scopes: ['orders.read'] };
const application = async (): Promise<number> => (await made('POST', '/applications', someApplication)).id;

const someEndpoint = { url: 'https://receiver.example.com/hooks', events: ['order.paid'] };
const createEndpoint = async (): Promise<number> => (await made('POST', '/webhook-endpoints', someEndpoint, tokens.owner)).id;
let shared: Promise<number> | undefined;
const sharedEndpoint = (): Promise<number> => (shared ??= createEndpoint());
/** A new endpoint, in place of those that earlier tests left when there are nearly as many as there may be. */
async function endpoint(): Promise<number> {
  const kept = await sharedEndpoint();
  const call = { token: tokens.owner ?? '' };
  const { data }: Body = (await mandate.call('GET', '/api/v1/webhook-endpoints?limit=100', call)).body;
  if (data.length > maxWebhookEndpoints - 5) {
    const left: number[] = data.map(({ id }: Body) => id).filter((id: number) => id !== kept);
    await Promise.all(left.map((id) => mandate.call('DELETE', `/api/v1/webhook-endpoints/${id}`, call)));
  }
  return createEndpoint();
}
/** What one of the shop's applications registered, a key of the same person has no hand in. */
const ownersAlone = (status: number): Statuses => [401, 403, 404, status, 404, 404, 404, 404];

const rows: Record<string, { send: (caller: Caller) => Promise<Sent> | Sent; statuses: Statuses }> = {
  'usage.get': { send: () => ['GET', '/usage'], statuses: [401, 200, 200, 200, 200, 200, 200, 200] },
  'versions.list': { send: () => ['GET', ''], statuses: publicly },
  'users.me': { send: () => ['GET', '/users/me'], statuses: [401, 403, 200, 200, 200, 200, 403, 200] },
  'users.get': { send: () => ['GET', `/users/${owner.id}`], statuses: own },
  'users.list': { send: () => ['GET', '/users'], statuses: staffOnly(200) },
  'users.create': { send: () => ['POST', '/users', { name: 'New', email: `${unique()}@example.com` }], statuses: staffOnly(201) },
  'users.update': { send: () => ['PATCH', `/users/${owner.id}`, { name: 'Anna' }], statuses: own },
  'users.close': { send: async () => ['DELETE', `/users/${await customer()}`], statuses: [401, 403, 404, 404, 403, 204, 204, 404] },
  'products.list': { send: () => ['GET', '/products'], statuses: publicly },
  'products.get': { send: async () => ['GET', `/products/${(await shop.product()).id}`], statuses: publicly },
  'products.create': { send: () => ['POST', '/products', someProduct()], statuses: staffOnly(201) },
  'products.update': { send: async () => ['PATCH', `/products/${(await shop.product()).id}`, {}], statuses: staffOnly(200) },
  'products.replace': {
    send: async () => [
      'PUT',
      `/products/${(await shop.product()).id}`,
      { name: 'A', category: 'a', price: 1, status: 'active' },
      { 'if-match': '*' },
    ],
    statuses: staffOnly(200),
  },
  'products.delete': {
    send: async () => ['DELETE', `/products/${(await shop.product({ status: 'draft' })).id}`],
    statuses: staffOnly(204),
  },
  'products.adjustStock': {
    send: async () => ['POST', `/products/${(await shop.product()).id}/stock-adjustments`, { delta: 1, reason: 'received' }],
    statuses: staffOnly(201),
  },
  'products.listStockAdjustments': {
    send: async () => ['GET', `/products/${(await shop.product()).id}/stock-adjustments`],
    statuses: staffOnly(200),
  },
  'productCategories.list': { send: () => ['GET', '/product-categories'], statuses: publicly },
  'deliveryMethods.list': { send: () => ['GET', '/delivery-methods'], statuses: publicly },
  'deliveryMethods.get': { send: () => ['GET', '/delivery-methods/pickup'], statuses: publicly },
  'deliveryMethods.replace': {
    send: () => ['PUT', `/delivery-methods/${unique()}`, { name: 'A', price: 1, currency: 'EUR' }],
    statuses: staffOnly(201),
  },
  'deliveryMethods.delete': {
    send: async () => {
      const path = `/delivery-methods/${unique()}`;
      await made('PUT', path, { name: 'A', price: 1, currency: 'EUR' });
      return ['DELETE', path];
    },
    statuses: staffOnly(204),
  },
  'orders.create': {
    send: async () => ['POST', '/orders', { ...(await newOrder()), user_id: owner.id }],
    statuses: [401, 403, 403, 201, 201, 201, 201, 201],
  },
  'orders.list': { send: () => ['GET', `/orders?user_id=${owner.id}`], statuses: ownList },
  'orders.get': { send: async () => ['GET', `/orders/${await order()}`], statuses: own },
  'orders.update': { send: async () => ['PATCH', `/orders/${await order()}`, { note: 'x' }], statuses: own },
  'orders.cancel': { send: async () => ['POST', `/orders/${await order()}/cancellation`, {}], statuses: ownCreated },
  'payments.create': { send: async () => ['POST', `/orders/${await order()}/payments`, { provider: 'manual' }], statuses: ownCreated },
  'payments.list': { send: async () => ['GET', `/orders/${await order()}/payments`], statuses: own },
  'payments.listAll': { send: () => ['GET', `/payments?user_id=${owner.id}`], statuses: ownList },
  'payments.get': { send: async () => ['GET', `/payments/${(await payment()).id}`], statuses: own },
  'payments.cancel': { send: async () => ['POST', `/payments/${(await payment()).id}/cancellation`, {}], statuses: ownCreated },
  'payments.confirm': { send: async () => ['POST', `/payments/${(await payment()).id}/confirmation`, {}], statuses: staffOnly(201) },
  'providerEvents.receive': { send: () => ['POST', '/provider-events/test', {}], statuses: [400, 400, 400, 400, 400, 400, 400, 400] },
  'refunds.create': { send: async () => ['POST', `/orders/${await paidOrder()}/refunds`, { reason: 'other' }], statuses: staffOnly(201) },
  'refunds.list': { send: async () => ['GET', `/orders/${await order()}/refunds`], statuses: own },
  'refunds.listAll': { send: () => ['GET', `/refunds?user_id=${owner.id}`], statuses: ownList },
  'refunds.get': { send: async () => ['GET', `/refunds/${await refund()}`], statuses: own },
  'refunds.confirm': { send: async () => ['POST', `/refunds/${await refund()}/confirmation`, {}], statuses: staffOnly(201) },
  'shipments.create': { send: async () => ['POST', `/orders/${await paidOrder()}/shipments`, {}], statuses: staffOnly(201) },
  'shipments.list': { send: async () => ['GET', `/orders/${await order()}/shipments`], statuses: own },
  'shipments.listAll': { send: () => ['GET', `/shipments?user_id=${owner.id}`], statuses: ownList },
  'shipments.get': { send: async () => ['GET', `/shipments/${await shipment()}`], statuses: own },
  'shipments.update': { send: async () => ['PATCH', `/shipments/${await shipment()}`, { status: 'shipped' }], statuses: staffOnly(200) },
  'tasks.list': { send: () => ['GET', '/tasks'], statuses: [401, 403, 200, 200, 200, 200, 200, 200] },
  'tasks.get': { send: async () => ['GET', `/tasks/${await task()}`], statuses: personal(200) },
  'tasks.result': { send: async () => ['GET', `/tasks/${await task()}/result`], statuses: personal(409) },
  'tasks.cancel': { send: async () => ['POST', `/tasks/${await task()}/cancellation`, {}], statuses: personal(202) },
  'orderExports.create': { send: async () => starting(['POST', '/order-exports', {}]), statuses: [401, 403, 202, 202, 202, 202, 202, 202] },
  'orderImports.create': {
    send: () => starting(['POST', '/order-imports?source=elsewhere', 'reference,sku\n', { 'content-type': 'text/csv' }]),
    statuses: staffOnly(202),
  },
  'productImports.create': {
    send: () => starting(['POST', '/product-imports', 'sku,name\n', { 'content-type': 'text/csv' }]),
    statuses: staffOnly(202),
  },
  'events.list': { send: () => ['GET', '/events'], statuses: [401, 403, 200, 200, 200, 200, 200, 200] },
  'events.get': { send: async () => ['GET', `/events/${await orderEvent()}`], statuses: own },
  'webhooks.list': { send: () => ['GET', '/webhook-endpoints'], statuses: [401, 403, 200, 200, 200, 200, 200, 200] },
  'webhooks.create': { send: () => ['POST', '/webhook-endpoints', someEndpoint], statuses: [401, 403, 201, 201, 201, 201, 201, 201] },
  'webhooks.get': { send: async () => ['GET', `/webhook-endpoints/${await sharedEndpoint()}`], statuses: ownersAlone(200) },
  'webhooks.update': { send: async () => ['PATCH', `/webhook-endpoints/${await sharedEndpoint()}`, {}], statuses: ownersAlone(200) },
  'webhooks.delete': { send: async () => ['DELETE', `/webhook-endpoints/${await endpoint()}`], statuses: ownersAlone(204) },
  'webhooks.rotateSecret': {
    send: async () => ['POST', `/webhook-endpoints/${await sharedEndpoint()}/secret-rotations`, { overlap_seconds: 0 }],
    statuses: ownersAlone(201),
  },
  'webhooks.deliveries': {
    send: async () => ['GET', `/webhook-endpoints/${await sharedEndpoint()}/deliveries`],
    statuses: ownersAlone(200),
  },
  'webhooks.redeliver': {
    send: async () => ['POST', `/webhook-endpoints/${await sharedEndpoint()}/redeliveries`, { from_event_id: 1 }],
    statuses: ownersAlone(202),
  },
  'webhooks.test': {
    send: async () => ['POST', `/webhook-endpoints/${await sharedEndpoint()}/test-events`],
    statuses: ownersAlone(202),
  },
  'connectedApps.list': { send: () => ['GET', '/connected-apps'], statuses: [401, 403, 200, 200, 200, 200, 403, 200] },
  'connectedApps.remove': { send: () => ['DELETE', '/connected-apps/999999'], statuses: [401, 403, 404, 404, 404, 404, 403, 404] },
  'apiKeys.list': { send: () => ['GET', '/api-keys'], statuses: [401, 403, 200, 200, 200, 200, 403, 403] },
  'apiKeys.create': {
    send: () => ['POST', '/api-keys', { name: 'Mine', scopes: ['orders.read'] }],
    statuses: [401, 403, 201, 201, 201, 201, 403, 403],
  },
  'apiKeys.revoke': { send: () => ['DELETE', '/api-keys/999999'], statuses: [401, 403, 404, 404, 404, 404, 403, 403] },
  'applications.list': { send: () => ['GET', '/applications'], statuses: administrators(200) },
  'applications.get': { send: async () => ['GET', `/applications/${await application()}`], statuses: administrators(200) },
  'applications.create': { send: () => ['POST', '/applications', someApplication], statuses: administrators(201) },
  'applications.update': {
    send: async () => ['PATCH', `/applications/${await application()}`, { name: 'B' }],
    statuses: administrators(200),
  },
  'applications.delete': { send: async () => ['DELETE', `/applications/${await application()}`], statuses: administrators(204) },
  'applications.rotateSecret': {
    send: async () => ['POST', `/applications/${await application()}/secret-rotations`, {}],
    statuses: administrators(201),
  },
  'applications.createRegistrationToken': { send: () => ['POST', '/registration-tokens', {}], statuses: administrators(201) },
  'signingKeys.rotate': { send: () => ['POST', '/signing-key-rotations', {}], statuses: administrators(201) },
  'auditEvents.list': { send: () => ['GET', '/audit-events'], statuses: [401, 403, 403, 403, 403, 200, 200, 403] },
};

for (const name of ['create', 'list', 'get', 'update', 'cancel']) {
  const row = rows[`orders.${name}`];
  if (row) rows[`v2 orders.${name}`] = { ...row, send: async (caller) => inVersion2(await row.send(caller)) };
}

function inVersion2([method, path, body, headers = {}]: Sent): Sent {
  if (method !== 'POST' || path !== '/orders') return [method, path, body, headers];
  const {
    delivery: { method: shipping_method, ...shipping_address },
    ...rest
  }: Body = body;
  return [method, path, { ...rest, shipping_method, shipping_address }, headers];
}

function pathOf(operation: string, path: string): string {
  if (path === '') return '/api';
  return `/api/${operation.startsWith('v2 ') ? 'v2' : 'v1'}${path}`;
}

test('every operation has a row, and every row an operation', () => {
  expect(Object.keys(rows).toSorted()).toEqual([...listRoutes(contract), ...listRoutes(contractV2.orders)].map(operationOf).toSorted());
});

describe.each(Object.entries(rows))('%s', (operation, { send, statuses }) => {
  test.each(callers.map((caller, index) => [caller, statuses[index]] as const))('%s is answered %i', async (caller, status) => {
    const token = caller === 'scopeless' ? unfitFor(operation) : tokens[caller];
    const [method, path, body, headers = {}] = await send(caller);
    const answer = await mandate.call(method, pathOf(operation, path), {
      ...(token !== undefined && { token }),
      ...(body !== undefined && { body }),
      headers,
    });
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  });
});

/** A good token, with a scope that the operation has no use for. */
const unfitFor = (operation: string): string => (operation.startsWith('users.') ? forOrders : forUsers);

/** A request that succeeds, or at least is let in. */
function validRequest(operation: string): Promise<Valid> {
  return requestOf(operation, successful(operation)[0] ?? 'owner');
}

const successful = (operation: string): Caller[] =>
  (['owner', 'admin', 'application'] as const).filter((name) => (rows[operation]?.statuses[callers.indexOf(name)] ?? 400) < 300);

async function requestOf(operation: string, caller: Caller): Promise<Valid> {
  const row = rows[operation];
  if (!row) throw new Error(`${operation} has no row`);
  const [method, path, body, headers = {}] = await row.send(caller);
  return { method, path: pathOf(operation, path), body, headers, token: tokens[caller] ?? '' };
}

test.each(Object.keys(rows))('%s: a parameter that the contract does not declare is refused, and nothing is done', async (operation) => {
  const { method, path, ...call } = await validRequest(operation);
  const separator = path.includes('?') ? '&' : '?';
  const { status, body } = await mandate.call(method, `${path}${separator}no_such_parameter=true`, call);
  expect([status, body.code]).toEqual([400, 'invalid_request']);
  expect(body.errors).toEqual([expect.objectContaining({ in: 'query', parameter: 'no_such_parameter', code: 'unknown_parameter' })]);
});

collectionsAsDeclared(Object.keys(rows), { mandate: () => mandate, validRequest });
replaysAsDeclared(Object.keys(rows), {
  mandate: () => mandate,
  validRequests: async (operation) => {
    const requests: Valid[] = [];
    for (const caller of successful(operation)) requests.push(await requestOf(operation, caller));
    return requests;
  },
});

failsAsDeclared(Object.keys(rows), {
  mandate: () => mandate,
  rateLimits,
  validRequest,
  spoilers: (operation) => ({ ...spoilers, scopeless: unfitFor(operation) }),
});
