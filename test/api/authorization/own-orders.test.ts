import { contract, contractV2, getRouteMetadata, listRoutes, scopeDefinitions, scopeNames, type Scope } from '@mandate/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { callMcpTool, connectMcpClient } from '../../support/mcp/mcp-client.ts';
import { obtainLimitedTokens } from '../../support/oauth/limited-tokens.ts';
import { obtainTokens, signUp, signUpWithRole, type TestUser } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withPaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { completeTask } from '../../support/shop/run-tasks.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';

const till = withPaymentTestShop(undefined, { previewVersions: true });

const customerScopes = scopeNames.filter((name) => !scopeDefinitions[name].admin);
const staffScopes = scopeNames.filter((name) => !('role' in scopeDefinitions[name]));

/** Path parameters that contain the ID of an order, of the quote from which it was placed, or of its payment, refund or shipment. */
const parameters = ['order_id', 'quote_id', 'payment_id', 'refund_id', 'shipment_id'] as const;
type Ids = Readonly<Record<(typeof parameters)[number], number>>;

/**
 * A user, a command-line client that can access only its own orders, an order that this client placed, and an order that the shop placed.
 */
type Fixture = {
  readonly user: TestUser;
  readonly scopes: readonly Scope[];
  readonly token: string;
  readonly own: Ids;
  readonly other: Ids;
};

const orderBody = async (): Promise<JsonBody> => ({
  items: [{ product_id: (await till.shop.createProduct()).id, quantity: 2 }],
  delivery: pickupDelivery,
});

/** Creates a quote with the given token (default: the shop's token), and converts the quote to an order. */
async function placeOrderFromQuote(quote: JsonBody, token = till.shop.token): Promise<JsonBody> {
  const { body } = await till.mandate.callApi('POST', '/api/v1/quotes', { token, body: quote });
  const placed = await till.mandate.callApi('POST', '/api/v1/orders', { token, body: { quote_id: body.id } });
  expect(placed.status, placed.text).toBe(201);
  return { ...placed.body, quote_id: body.id };
}

async function createSubresources({ id: orderId, quote_id: quoteId }: JsonBody): Promise<Ids> {
  const payment = await till.createPayment(orderId);
  const shipment = await till.post(`/orders/${orderId}/shipments`, { items: [{ line: 1, quantity: 1 }] });
  const refund = await till.post(`/orders/${orderId}/refunds`, { amount: 1 });
  expect([payment.status, shipment.status, refund.status]).toEqual([201, 201, 201]);
  return { order_id: orderId, quote_id: quoteId, payment_id: payment.body.id, refund_id: refund.body.id, shipment_id: shipment.body.id };
}

async function createFixture(user: TestUser, scopes: readonly Scope[]): Promise<Fixture> {
  const { access_token: token } = await obtainLimitedTokens(till.mandate.origin, user, scopes, { orders: 'own' });
  const placed = await placeOrderFromQuote(await orderBody(), token);
  const other = await placeOrderFromQuote({ ...(await orderBody()), user_id: user.id, reference: `R-${user.id}` });
  return { user, scopes, token, own: await createSubresources(placed), other: await createSubresources(other) };
}

const fixtures = new Map<'customer' | 'administrator', Fixture>();
const fixtureOf = (role: 'customer' | 'administrator'): Fixture => {
  const fixture = fixtures.get(role);
  if (!fixture) throw new Error(`there is no ${role}`);
  return fixture;
};
beforeAll(async () => {
  const { origin, db } = till.mandate;
  fixtures.set('customer', await createFixture(await signUp(origin), customerScopes));
  fixtures.set('administrator', await createFixture(await signUpWithRole(db, origin, 'admin'), staffScopes));
});

const operations = [
  ...new Map([...listRoutes(contract), ...listRoutes(contractV2.orders)].map((route) => [`${route.method} ${route.path}`, route])).values(),
].map((route) => ({ method: route.method, path: route.path, ...getRouteMetadata(route) }));
type Operation = (typeof operations)[number];

const isPermitted = ({ access }: Operation, scopes: readonly Scope[]): boolean =>
  typeof access === 'string' || access.some((scope) => scopes.includes(scope));

/** Operations whose path contains the ID of an order, quote, payment, refund or shipment. */
const operationsOnOrders = operations.filter(({ path }) => parameters.some((name) => path.includes(`:${name}`)));
const bodies: Readonly<Record<string, object>> = {
  'orders.update': { note: 'Ring twice' },
  'orders.cancel': {},
  'payments.create': { provider: 'test', method_token: 'test_ok' },
  'refunds.create': { amount: 1 },
  'shipments.create': {},
  'shipments.update': { status: 'shipped' },
};

const send = ({ method, path, operationId }: Operation, token: string, ids: Ids): Promise<ApiResponse> => {
  const url = parameters.reduce((found, name) => found.replace(`:${name}`, String(ids[name])), path);
  const body = method === 'GET' ? undefined : (bodies[operationId] ?? {});
  return till.mandate.callApi(method, url, { token, ...(body && { body }) });
};

/** Returns a problem without the parts that differ between requests. */
const comparable = ({ status, body }: ApiResponse, ids: Ids) => {
  const { request_id: _requestId, instance: _instance, ...problem } = body;
  const text = parameters.reduce((found, name) => found.replaceAll(new RegExp(`\\b${ids[name]}\\b`, 'g'), 'ID'), JSON.stringify(problem));
  return { status, text };
};

const missing: Ids = {
  order_id: 987_654_321,
  quote_id: 987_654_321,
  payment_id: 987_654_321,
  refund_id: 987_654_321,
  shipment_id: 987_654_321,
};

describe.each(['customer', 'administrator'] as const)('an application of a %s that can access only its own orders', (role) => {
  const fixture = (): Fixture => fixtureOf(role);
  const permitted = operationsOnOrders.filter((operation) => isPermitted(operation, role === 'customer' ? customerScopes : staffScopes));

  test('is tested with the operations on orders in both versions', () => {
    const names = permitted.map(({ method, path }) => `${method} ${path}`);
    expect(names).toEqual(expect.arrayContaining(['GET /api/v1/orders/:order_id', 'GET /api/v2/orders/:order_id']));
    expect(permitted.length).toBeGreaterThanOrEqual(role === 'customer' ? 12 : 18);
  });

  test.each(permitted.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s: the order of another application does not exist',
    async (_name, operation) => {
      const { token, other } = fixture();
      const before = await till.get(`/orders/${other.order_id}`);
      const response = await send(operation, token, other);
      expect([response.status, response.body.code], response.text).toEqual([404, 'not_found']);
      expect(comparable(response, other)).toEqual(comparable(await send(operation, token, missing), missing));
      expect(await till.get(`/orders/${other.order_id}`)).toEqual(before);
    },
  );

  test.each(permitted.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s: the own order exists',
    async (_name, operation) => {
      const { token, own } = fixture();
      const response = await send(operation, token, own);
      expect([200, 201, 409], response.text).toContain(response.status);
      expect(['not_found', 'forbidden']).not.toContain(response.body.code);
    },
  );

  const orderScopes = new Set<string>(['orders.read', 'payments.read'] satisfies Scope[]);
  // Lists of approvals are excluded: `test/api/approvals/lifecycle.test.ts` tests which applications can read approvals.
  const lists = operations.filter(
    ({ method, path, access, operationId }) =>
      method === 'GET' &&
      !path.includes(':') &&
      typeof access !== 'string' &&
      access.some((name) => orderScopes.has(name)) &&
      operationId !== 'approvals.list',
  );

  test.each(lists.map((operation) => [operation.path, operation] as const))('GET %s lists and counts only own orders', async (path) => {
    const { token, own, other } = fixture();
    const list = async (query = ''): Promise<{ total: number; rows: number; orders: Set<number> }> => {
      const { status, body, text } = await till.mandate.callApi('GET', `${path}?include_total=true${query}`, { token });
      expect(status, text).toBe(200);
      return { total: body.total_count, rows: body.data.length, orders: new Set(body.data.map((row: JsonBody) => row.order_id ?? row.id)) };
    };
    const all = await list();
    expect([all.orders.has(own.order_id), all.orders.has(other.order_id), all.total]).toEqual([true, false, all.rows]);
    // The administrator also sees the order that the application placed for the customer.
    expect(all.orders.size).toBe(role === 'customer' ? 1 : 2);
    const { client_id: otherClient } = await till.get(`/orders/${other.order_id}`);
    const filters = { '/orders': `id=${other.order_id}`, '/quotes': `client_id=${encodeURIComponent(otherClient)}` };
    const [, filter] = Object.entries(filters).find(([end]) => path.endsWith(end)) ?? ['', `order_id=${other.order_id}`];
    const found = await list(`&${filter}`);
    expect(found).toEqual({ total: 0, rows: 0, orders: new Set() });
  });

  test('is tested with order lists in both versions, and with lists of payments, refunds and shipments', () => {
    expect(lists.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/api/v1/orders',
        '/api/v2/orders',
        '/api/v1/quotes',
        '/api/v1/payments',
        '/api/v1/refunds',
        '/api/v1/shipments',
      ]),
    );
  });

  test('finds only its own orders with filters and searches', async () => {
    const { token, user, own, other } = fixture();
    const find = async (query: string): Promise<number[]> => {
      const { body } = await till.mandate.callApi('GET', `/api/v1/orders?${query}`, { token });
      return body.data.map(({ id }: JsonBody) => id);
    };
    const { client_id: otherClient } = await till.get(`/orders/${other.order_id}`);
    expect(await find(`client_id=${otherClient}`)).toEqual([]);
    expect(await find(`reference=R-${user.id}`)).toEqual([]);
    expect(await find(`q=${other.order_id}`)).toEqual([]);
    expect(await find(`q=${own.order_id}`)).toEqual([own.order_id]);
    expect(await find(`sort=updated_at&q=${encodeURIComponent(user.email)}`)).toEqual([own.order_id]);
    for (const query of [
      'sort=-updated_at',
      'payment_status=partially_refunded,refunded',
      'fulfillment_status=unfulfilled,partial,shipped',
    ]) {
      const ids = await find(query);
      expect([ids.includes(own.order_id), ids.includes(other.order_id)], query).toEqual([true, false]);
    }
  });
});

describe('exports', () => {
  const scopes: Scope[] = ['orders.read', 'orders.write', 'tasks.read', 'tasks.write'];
  const startExport = (token: string, body: object = {}): Promise<ApiResponse> =>
    till.mandate.callApi('POST', '/api/v1/order-exports', { token, body: { format: 'csv', ...body } });

  test('contain only own orders, regardless of the filter', async () => {
    const { token, own, other } = fixtureOf('customer');
    const { client_id: otherClient } = await till.get(`/orders/${other.order_id}`);
    const everything = await completeTask(till.mandate, token, await startExport(token, { columns: ['id'] }));
    expect(everything.file.trim().split(/\s+/)).toEqual(['id', String(own.order_id)]);
    const ofOther = await completeTask(till.mandate, token, await startExport(token, { columns: ['id'], client_id: otherClient }));
    expect(ofOther.file.trim()).toBe('id');
  });

  test('that another application started, or that were started before the restriction, do not exist', async () => {
    const { user, token } = fixtureOf('customer');
    const { access_token: unrestricted } = await obtainTokens(till.mandate.origin, user, scopes);
    const { task } = await completeTask(till.mandate, unrestricted, await startExport(unrestricted));
    const read = async (path: string): Promise<number> => (await till.mandate.callApi('GET', `/api/v1/tasks${path}`, { token })).status;
    expect([await read(`/${task.id}`), await read(`/${task.id}/result`)]).toEqual([404, 404]);
    const canceled = await till.mandate.callApi('POST', `/api/v1/tasks/${task.id}/cancellation`, { token });
    expect(canceled.status).toBe(404);
    const { body } = await till.mandate.callApi('GET', '/api/v1/tasks', { token });
    expect(body.data.map(({ id }: JsonBody) => id)).not.toContain(task.id);
  });
});

test.each(operations.filter(({ access }) => Array.isArray(access) && access.includes('statistics.read')).map(({ path }) => path))(
  'GET %s, which counts all orders, is forbidden',
  async (path) => {
    const { token } = fixtureOf('administrator');
    const { status, body } = await till.mandate.callApi('GET', path, { token });
    expect([status, body.detail]).toEqual([
      403,
      'This application can access only the orders that it placed, so it cannot see statistics for all orders.',
    ]);
  },
);

test.each(['with an open order', 'without orders'])('closing the account of a user %s has the same response', async (name) => {
  const anna = await signUp(till.mandate.origin);
  if (name === 'with an open order') await till.post('/orders', { ...(await orderBody()), user_id: anna.id });
  const { access_token: token } = await obtainLimitedTokens(till.mandate.origin, anna, ['users.write'], { orders: 'own' });
  const { status, body } = await till.mandate.callApi('DELETE', `/api/v1/users/${anna.id}`, { token });
  expect([status, body.code, body.detail]).toEqual([
    403,
    'forbidden',
    'This application can access only the orders that it placed, so it cannot close accounts, because the response would reveal whether other orders are open.',
  ]);
});

test('an assistant whose access the customer restricts on the consent page sees only the orders that it places', async () => {
  const anna = await signUp(till.mandate.origin);
  const other = await till.post('/orders', { ...(await orderBody()), user_id: anna.id, reference: 'PLACED-ELSEWHERE' });
  const consentForm = { decision: 'allow', limit_orders: 'own' };
  const client = await connectMcpClient(till.mandate.origin, anna, ['orders.read', 'orders.write'], { consentForm });
  const { body: placed } = await callMcpTool(client, 'orders_create', { ...(await orderBody()), reference: 'PLACED-BY-ASSISTANT' });
  expect((await callMcpTool(client, 'orders_get', { order_id: placed.id })).isError).toBe(false);
  const hidden = await callMcpTool(client, 'orders_get', { order_id: other.body.id });
  expect([hidden.isError, hidden.text]).toEqual([true, expect.stringContaining(`Order ${other.body.id} was not found`)]);
  const { text } = await callMcpTool(client, 'orders_list');
  expect([text.includes('PLACED-BY-ASSISTANT'), text.includes('PLACED-ELSEWHERE')], text).toEqual([true, false]);
  await client.close();
});
