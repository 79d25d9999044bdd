/**
 * Calls every operation in the contract as every kind of caller, and checks the response status. If you add a resource, add its expected
 * statuses to the resource's own test. The test fails if an operation has no expected statuses.
 */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contract, contractV2, listRoutes } from '@mandate/contract';
import { expect, test } from 'vitest';
import { assignEventSequenceNumbers } from '../../server/events/assign-event-sequence-numbers.ts';
import { operationName } from '../support/contract/declared-responses.ts';
import { signUp } from '../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../support/server/start-mandate.ts';
import {
  administratorStatuses,
  type AuthorizationRows,
  ownerCreateStatuses,
  ownerListStatuses,
  ownerStatuses,
  publicStatuses,
  signedInAdministratorStatuses,
  type RequestParts,
  staffStatuses,
  type Statuses,
  testAuthorization,
} from '../support/shop/authorization-matrix.ts';
import { pickupDelivery, buildProductInput } from '../support/shop/test-shop.ts';
import { createWebhookRows } from './webhooks/webhook-authorization-rows.ts';

let nameCount = 0;
const unique = (): string => `unique_${++nameCount}`;
const newOrderBody = async (): Promise<JsonBody> => ({
  items: [{ product_id: (await shop.createProduct()).id, quantity: 1 }],
  delivery: pickupDelivery,
});
const createOrder = async (): Promise<number> => (await createResource('POST', '/orders', await newOrderBody(), tokens.owner)).id;
const createPayment = async (): Promise<JsonBody> =>
  createResource('POST', `/orders/${await createOrder()}/payments`, { provider: 'manual' });
async function createPaidOrder(): Promise<number> {
  const { id, order_id } = await createPayment();
  await createResource('POST', `/payments/${id}/confirmation`, {});
  return order_id;
}
const createRefund = async (): Promise<number> =>
  (await createResource('POST', `/orders/${await createPaidOrder()}/refunds`, { reason: 'other' })).id;
const createShipment = async (): Promise<number> => (await createResource('POST', `/orders/${await createPaidOrder()}/shipments`, {})).id;
async function createTask(): Promise<number> {
  await cancelQueuedTasks();
  return (await createResource('POST', '/order-exports', {}, tokens.owner)).id;
}
async function createOrderEvent(): Promise<number> {
  const id = await createOrder();
  await assignEventSequenceNumbers(shop.db.em.fork());
  const { body } = await shop.callApi('GET', `/api/v1/events?subject_type=order&subject_id=${id}`, { token: shop.token });
  return body.data[0].id;
}
/** Cancels the queued tasks, because a user may have at most two queued tasks. */
const cancelQueuedTasks = (): Promise<unknown> =>
  shop.db.em.fork().execute(`update tasks set status = 'canceled', finished_at = now() where status = 'queued'`);
async function afterCancelingTasks(sent: RequestParts): Promise<RequestParts> {
  await cancelQueuedTasks();
  return sent;
}
const importRequest = (path: string, file: string) => afterCancelingTasks(['POST', path, file, { 'content-type': 'text/csv' }]);
const createCustomer = async (): Promise<number> => (await signUp(shop.origin)).id;

/** Only the user who started a task can read it, because other users may not be allowed to read the data in its result. */
const taskOwnerStatuses = (status: number): Statuses => [401, 403, 404, status, 404, 404, 404, status];

const applicationBody = { name: 'A', type: 'confidential', grant_types: ['client_credentials'], scopes: ['orders.read'] };
const createApplication = async (): Promise<number> => (await createResource('POST', '/applications', applicationBody)).id;

const rows: AuthorizationRows = {
  'usage.get': { send: () => ['GET', '/usage'], statuses: [401, 200, 200, 200, 200, 200, 200, 200] },
  'authorization.get': { send: () => ['GET', '/authorization'], statuses: [401, 200, 200, 200, 200, 200, 200, 200] },
  'versions.list': { send: () => ['GET', ''], statuses: publicStatuses },
  'users.me': { send: () => ['GET', '/users/me'], statuses: [401, 403, 200, 200, 200, 200, 403, 200] },
  'users.get': { send: () => ['GET', `/users/${owner.id}`], statuses: ownerStatuses },
  'users.list': { send: () => ['GET', '/users'], statuses: staffStatuses(200) },
  'users.create': { send: () => ['POST', '/users', { name: 'New', email: `${unique()}@example.com` }], statuses: staffStatuses(201) },
  'users.update': { send: () => ['PATCH', `/users/${owner.id}`, { name: 'Anna' }], statuses: ownerStatuses },
  'users.close': { send: async () => ['DELETE', `/users/${await createCustomer()}`], statuses: [401, 403, 404, 404, 403, 204, 204, 404] },
  'products.list': { send: () => ['GET', '/products'], statuses: publicStatuses },
  'products.get': { send: async () => ['GET', `/products/${(await shop.createProduct()).id}`], statuses: publicStatuses },
  'products.create': { send: () => ['POST', '/products', buildProductInput()], statuses: staffStatuses(201) },
  'products.update': { send: async () => ['PATCH', `/products/${(await shop.createProduct()).id}`, {}], statuses: staffStatuses(200) },
  'products.replace': {
    send: async () => [
      'PUT',
      `/products/${(await shop.createProduct()).id}`,
      { name: 'A', category: 'a', price: 1, status: 'active' },
      { 'if-match': '*' },
    ],
    statuses: staffStatuses(200),
  },
  'products.delete': {
    send: async () => ['DELETE', `/products/${(await shop.createProduct({ status: 'draft' })).id}`],
    statuses: staffStatuses(204),
  },
  'products.adjustStock': {
    send: async () => ['POST', `/products/${(await shop.createProduct()).id}/stock-adjustments`, { delta: 1, reason: 'received' }],
    statuses: staffStatuses(201),
  },
  'products.listStockAdjustments': {
    send: async () => ['GET', `/products/${(await shop.createProduct()).id}/stock-adjustments`],
    statuses: staffStatuses(200),
  },
  'productCategories.list': { send: () => ['GET', '/product-categories'], statuses: publicStatuses },
  'deliveryMethods.list': { send: () => ['GET', '/delivery-methods'], statuses: publicStatuses },
  'deliveryMethods.get': { send: () => ['GET', '/delivery-methods/pickup'], statuses: publicStatuses },
  'deliveryMethods.replace': {
    send: () => ['PUT', `/delivery-methods/${unique()}`, { name: 'A', price: 1, currency: 'EUR' }],
    statuses: staffStatuses(201),
  },
  'deliveryMethods.delete': {
    send: async () => {
      const path = `/delivery-methods/${unique()}`;
      await createResource('PUT', path, { name: 'A', price: 1, currency: 'EUR' });
      return ['DELETE', path];
    },
    statuses: staffStatuses(204),
  },
  'orders.create': {
    send: async () => ['POST', '/orders', { ...(await newOrderBody()), user_id: owner.id }],
    statuses: [401, 403, 403, 201, 201, 201, 201, 201],
  },
  'orders.list': { send: () => ['GET', `/orders?user_id=${owner.id}`], statuses: ownerListStatuses },
  'orders.get': { send: async () => ['GET', `/orders/${await createOrder()}`], statuses: ownerStatuses },
  'orders.update': { send: async () => ['PATCH', `/orders/${await createOrder()}`, { note: 'x' }], statuses: ownerStatuses },
  'orders.cancel': { send: async () => ['POST', `/orders/${await createOrder()}/cancellation`, {}], statuses: ownerCreateStatuses },
  'payments.create': {
    send: async () => ['POST', `/orders/${await createOrder()}/payments`, { provider: 'manual' }],
    statuses: ownerCreateStatuses,
  },
  'payments.list': { send: async () => ['GET', `/orders/${await createOrder()}/payments`], statuses: ownerStatuses },
  'payments.listAll': { send: () => ['GET', `/payments?user_id=${owner.id}`], statuses: ownerListStatuses },
  'payments.get': { send: async () => ['GET', `/payments/${(await createPayment()).id}`], statuses: ownerStatuses },
  'payments.cancel': {
    send: async () => ['POST', `/payments/${(await createPayment()).id}/cancellation`, {}],
    statuses: ownerCreateStatuses,
  },
  'payments.confirm': {
    send: async () => ['POST', `/payments/${(await createPayment()).id}/confirmation`, {}],
    statuses: staffStatuses(201),
  },
  'providerEvents.receive': { send: () => ['POST', '/provider-events/test', {}], statuses: [400, 400, 400, 400, 400, 400, 400, 400] },
  'refunds.create': {
    send: async () => ['POST', `/orders/${await createPaidOrder()}/refunds`, { reason: 'other' }],
    statuses: staffStatuses(201),
  },
  'refunds.list': { send: async () => ['GET', `/orders/${await createOrder()}/refunds`], statuses: ownerStatuses },
  'refunds.listAll': { send: () => ['GET', `/refunds?user_id=${owner.id}`], statuses: ownerListStatuses },
  'refunds.get': { send: async () => ['GET', `/refunds/${await createRefund()}`], statuses: ownerStatuses },
  'refunds.confirm': { send: async () => ['POST', `/refunds/${await createRefund()}/confirmation`, {}], statuses: staffStatuses(201) },
  'shipments.create': { send: async () => ['POST', `/orders/${await createPaidOrder()}/shipments`, {}], statuses: staffStatuses(201) },
  'shipments.list': { send: async () => ['GET', `/orders/${await createOrder()}/shipments`], statuses: ownerStatuses },
  'shipments.listAll': { send: () => ['GET', `/shipments?user_id=${owner.id}`], statuses: ownerListStatuses },
  'shipments.get': { send: async () => ['GET', `/shipments/${await createShipment()}`], statuses: ownerStatuses },
  'shipments.update': {
    send: async () => ['PATCH', `/shipments/${await createShipment()}`, { status: 'shipped' }],
    statuses: staffStatuses(200),
  },
  'tasks.list': { send: () => ['GET', '/tasks'], statuses: [401, 403, 200, 200, 200, 200, 200, 200] },
  'tasks.get': { send: async () => ['GET', `/tasks/${await createTask()}`], statuses: taskOwnerStatuses(200) },
  'tasks.result': { send: async () => ['GET', `/tasks/${await createTask()}/result`], statuses: taskOwnerStatuses(409) },
  'tasks.cancel': { send: async () => ['POST', `/tasks/${await createTask()}/cancellation`, {}], statuses: taskOwnerStatuses(202) },
  'orderExports.create': {
    send: async () => afterCancelingTasks(['POST', '/order-exports', {}]),
    statuses: [401, 403, 202, 202, 202, 202, 202, 202],
  },
  'orderImports.create': {
    send: () => importRequest('/order-imports?source=elsewhere', 'reference,sku\n'),
    statuses: staffStatuses(202),
  },
  'productImports.create': { send: () => importRequest('/product-imports', 'sku,name\n'), statuses: staffStatuses(202) },
  'userImports.create': {
    send: () => importRequest('/user-imports?source=elsewhere', 'email,name\n'),
    statuses: signedInAdministratorStatuses(202),
  },
  'userExports.create': { send: () => afterCancelingTasks(['POST', '/user-exports', {}]), statuses: signedInAdministratorStatuses(202) },
  'events.list': { send: () => ['GET', '/events'], statuses: [401, 403, 200, 200, 200, 200, 200, 200] },
  'events.get': { send: async () => ['GET', `/events/${await createOrderEvent()}`], statuses: ownerStatuses },
  ...createWebhookRows(),
  'connectedApps.list': { send: () => ['GET', '/connected-apps'], statuses: [401, 403, 200, 200, 200, 200, 403, 200] },
  'connectedApps.listOfUser': { send: () => ['GET', `/users/${owner.id}/connected-apps`], statuses: staffStatuses(200) },
  'sessions.listOfUser': { send: () => ['GET', `/users/${owner.id}/sessions`], statuses: staffStatuses(200) },
  'connectedApps.remove': { send: () => ['DELETE', '/connected-apps/999999'], statuses: [401, 403, 404, 404, 404, 404, 403, 404] },
  'connectedApps.getLimits': {
    send: () => ['GET', '/connected-apps/999999/limits'],
    statuses: [401, 403, 404, 404, 404, 404, 403, 404],
  },
  'connectedApps.setLimits': {
    send: () => ['PUT', '/connected-apps/999999/limits', { limits: { currency: 'EUR', per_order: 5000 } }],
    statuses: [401, 403, 404, 404, 404, 404, 403, 404],
  },
  'connectedApps.removeLimits': {
    send: () => ['DELETE', '/connected-apps/999999/limits'],
    statuses: [401, 403, 404, 404, 404, 404, 403, 404],
  },
  'apiKeys.list': { send: () => ['GET', '/api-keys'], statuses: [401, 403, 200, 200, 200, 200, 403, 403] },
  'apiKeys.listOfUser': { send: () => ['GET', `/users/${owner.id}/api-keys`], statuses: staffStatuses(200) },
  'apiKeys.create': {
    send: () => ['POST', '/api-keys', { name: 'Mine', scopes: ['orders.read'] }],
    statuses: [401, 403, 201, 201, 201, 201, 403, 403],
  },
  'apiKeys.revoke': { send: () => ['DELETE', '/api-keys/999999'], statuses: [401, 403, 404, 404, 404, 404, 403, 403] },
  'applications.list': { send: () => ['GET', '/applications'], statuses: administratorStatuses(200) },
  'applications.get': { send: async () => ['GET', `/applications/${await createApplication()}`], statuses: administratorStatuses(200) },
  'applications.create': { send: () => ['POST', '/applications', applicationBody], statuses: administratorStatuses(201) },
  'applications.update': {
    send: async () => ['PATCH', `/applications/${await createApplication()}`, { name: 'B' }],
    statuses: administratorStatuses(200),
  },
  'applications.delete': {
    send: async () => ['DELETE', `/applications/${await createApplication()}`],
    statuses: administratorStatuses(204),
  },
  'applications.rotateSecret': {
    send: async () => ['POST', `/applications/${await createApplication()}/secret-rotations`, {}],
    statuses: administratorStatuses(201),
  },
  'applications.createRegistrationToken': { send: () => ['POST', '/registration-tokens', {}], statuses: administratorStatuses(201) },
  'signingKeys.rotate': { send: () => ['POST', '/signing-key-rotations', {}], statuses: administratorStatuses(201) },
  'auditEvents.list': { send: () => ['GET', '/audit-events'], statuses: [401, 403, 403, 403, 403, 200, 200, 403] },
};

for (const name of ['create', 'list', 'get', 'update', 'cancel']) {
  const row = rows[`orders.${name}`];
  if (row) rows[`v2 orders.${name}`] = { ...row, send: async (fixture) => toVersion2Request(await row.send(fixture)) };
}

function toVersion2Request([method, path, body, headers = {}]: RequestParts): RequestParts {
  if (method !== 'POST' || path !== '/orders') return [method, path, body, headers];
  const {
    delivery: { method: shipping_method, ...shipping_address },
    ...rest
  }: JsonBody = body;
  return [method, path, { ...rest, shipping_method, shipping_address }, headers];
}

const { shop, owner, tokens, createResource } = testAuthorization(rows);

/** Returns the operations whose expected status codes are defined in the resources' own tests. */
async function operationsInResourceTests(): Promise<string[]> {
  const operations: string[] = [];
  for await (const file of glob('*/*.test.ts', { cwd: import.meta.dirname })) {
    const source = await readFile(join(import.meta.dirname, file), 'utf8');
    if (source.includes('testAuthorization({'))
      for (const [, name = ''] of source.matchAll(/^ {2}'(\w+\.\w+)': \{/gm)) operations.push(name);
  }
  return operations;
}

test('every operation has a row, and every row has an operation', async () => {
  const operations = [...listRoutes(contract), ...listRoutes(contractV2.orders)].map(operationName);
  const withRow = [...Object.keys(rows), ...(await operationsInResourceTests())];
  const missing = operations.filter((operation) => !withRow.includes(operation));
  expect(missing, 'pass a row for each of these operations to testAuthorization() in the test of the resource').toEqual([]);
  expect(withRow.toSorted()).toEqual(operations.toSorted());
});
