import { describe, expect, test } from 'vitest';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { createMcpTools, getMcpToolExclusionReason, selectMcpTools } from '@mandate/contract/tools';
import { callMcpTool, connectMcpClient, type SignInState } from '../../support/mcp/mcp-client.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { obtainAuthorizationCode, cliClient, signUp, signUpWithRole, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

const mcpUrl = (): URL => new URL(`${shop.origin}/mcp`);

describe('the tools', () => {
  test('that read one event or a list describe the fields of their results', () => {
    const tools = new Map(createMcpTools(createOpenApiDocument(shop.origin)).map((tool) => [tool.name, tool]));
    expect(tools.get('events_get')?.outputSchema).toMatchObject({ properties: { type: { type: 'string' }, data: { type: 'object' } } });
    expect(tools.get('events_list')?.outputSchema).toMatchObject({ properties: { data: { type: 'array' } } });
  });

  test('for shopping describe the fields of their results, and those that move money only the outcome', () => {
    const all = createMcpTools(createOpenApiDocument(shop.origin));
    const tools = selectMcpTools(all, { toolSets: undefined, readOnly: false, canRequestApprovals: false });
    const fieldsOf = (name: string): string[] =>
      Object.keys(Object(tools.find((tool) => tool.name === name)?.outputSchema?.['properties']));
    expect(tools.map(({ name }) => name).filter((name) => fieldsOf(name).length === 0)).toEqual(['orders_update']);
    const orderOutcome = ['id', 'status', 'payment_status', 'currency', 'total'];
    const paymentOutcome = ['id', 'order_id', 'status', 'amount', 'currency'];
    expect([fieldsOf('orders_create'), fieldsOf('orders_cancel')]).toEqual([orderOutcome, orderOutcome]);
    expect([fieldsOf('payments_create'), fieldsOf('payments_cancel')]).toEqual([paymentOutcome, paymentOutcome]);
    expect(fieldsOf('orders_get')).toEqual(expect.arrayContaining([...orderOutcome, 'items', 'paid_at']));
  });

  test('are marked as destructive if they can change or delete data, or spend money', () => {
    /** Tools that only add data. Customers and staff can see this data and remove it. */
    const harmless = [
      'users_create',
      'products_create',
      'quotes_create',
      'approvals_create',
      'shipments_create',
      'order_exports_create',
      'webhooks_redeliver',
      'webhooks_test',
    ];
    const tools = createMcpTools(createOpenApiDocument(shop.origin));
    const names = (selected: typeof tools) => selected.map(({ name }) => name);
    expect(names(tools.filter(({ method }) => method === 'GET'))).toEqual(names(tools.filter(({ readOnly }) => readOnly)));
    expect(names(tools.filter(({ readOnly, destructive }) => !readOnly && !destructive))).toEqual(harmless);
    expect(names(tools.filter(({ readOnly, destructive }) => readOnly && destructive))).toEqual([]);
    expect(tools.find(({ name }) => name === 'orders_create')?.description).not.toContain('Idempotency-Key');
  });

  test('exist for every operation except the excluded ones', () => {
    const document = createOpenApiDocument(shop.origin);
    const operations = Object.values(document['paths'] ?? {}).flatMap((methods) => Object.values(methods ?? {})) as JsonBody[];
    const reasons = operations.map((operation) => [operation.operationId, getMcpToolExclusionReason(document, operation)] as const);
    const offered = reasons.filter(([, reason]) => reason === undefined);
    expect(createMcpTools(document)).toHaveLength(new Set(offered.map(([operationId]) => operationId)).size);
    const secret = 'returns a secret, which must not appear in a conversation';
    expect(Object.fromEntries(reasons.filter(([, reason]) => reason !== undefined))).toEqual({
      'providerEvents.receive': 'is only for external systems',
      'apiKeys.create': secret,
      'applications.create': secret,
      'applications.rotateSecret': secret,
      'applications.createRegistrationToken': secret,
      'webhooks.create': secret,
      'identityProviders.create': 'requires a secret, which must not appear in a conversation',
      'identityProviders.update': 'requires a secret, which must not appear in a conversation',
      'webhooks.rotateSecret': secret,
      'backups.check': 'is only for operators',
      'backups.create': 'is only for operators',
      'backups.list': 'is only for operators',
      'branding.setLogo': 'requires a file',
      'identityProviders.setLogo': 'requires a file',
      'userExports.create': 'must be decided by a human',
      'approvals.approve': 'must be decided by a human',
      'approvals.decline': 'must be decided by a human',
      'signingKeys.rotate': 'must be decided by a human',
      'orderImports.create': 'requires a file',
      'productImports.create': 'requires a file',
      'userImports.create': 'requires a file',
      'tasks.result': 'returns a file',
    });
  });

  test('describe their effects in annotations', async () => {
    const administrator = await signUpWithRole(shop.db, shop.origin, 'admin');
    const client = await connectMcpClient(
      shop.origin,
      administrator,
      ['orders.manage', 'products.write', 'payments.manage', 'refunds.write'],
      { suffix: '?tools=all' },
    );
    const { tools } = await client.listTools();
    const named = (name: string) => tools.find((tool) => tool.name === name);
    expect(named('orders_list')?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(named('products_create')?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    for (const name of ['orders_create', 'orders_cancel', 'orders_update', 'products_delete', 'payments_create', 'refunds_create'])
      expect(named(name)?.annotations, name).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(named('quotes_create')?.inputSchema).toMatchObject({
      type: 'object',
      required: ['items', 'delivery'],
      additionalProperties: false,
    });
    expect(named('orders_create')?.inputSchema.properties?.['dry_run']).toMatchObject({ type: 'boolean' });
    expect(JSON.stringify(tools)).not.toContain('$ref');
    expect(named('api_keys_create')).toBeUndefined();
    await client.close();
  });
});

describe('an assistant', () => {
  test('searches products by text, and lists categories', async () => {
    const { sku } = await shop.createProduct({ name: 'Alabaster vase', category: 'vases' });
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read']);
    const foundProducts = await callMcpTool(client, 'products_list', { q: 'alabastre', sort: 'relevance' });
    expect(foundProducts).toMatchObject({ isError: false, body: { data: [{ sku }] } });
    const { body } = await callMcpTool(client, 'product_categories_list', {});
    expect(body.data).toContainEqual({ category: 'vases', product_count: 1 });
    await client.close();
  });

  test('places and reads only orders of the signed-in user', async () => {
    const [anna, ben] = [await signUp(shop.origin), await signUp(shop.origin)];
    const client = await connectMcpClient(shop.origin, anna, ['orders.read', 'orders.write']);
    const { id: productId } = await shop.createProduct({ price: 500 });
    const orderResult = await callMcpTool(client, 'orders_create', {
      items: [{ product_id: productId, quantity: 2 }],
      delivery: pickupDelivery,
    });
    expect(orderResult).toMatchObject({ isError: false, body: { status: 'pending', total: 1000, user_id: anna.id } });
    const listed = await callMcpTool(client, 'orders_list', { status: ['pending', 'paid'], limit: 5 });
    expect(listed.body.data.map(({ id }: JsonBody) => id)).toEqual([orderResult.body.id]);
    const canceled = await client.callTool({ name: 'orders_cancel', arguments: { order_id: orderResult.body.id } });
    expect(canceled.structuredContent).toMatchObject({ id: orderResult.body.id, status: 'canceled', total: 1000 });
    const other = await connectMcpClient(shop.origin, ben, ['orders.read']);
    expect(await callMcpTool(other, 'orders_get', { order_id: orderResult.body.id })).toMatchObject({
      isError: true,
      body: { code: 'not_found' },
    });
    await Promise.all([client.close(), other.close()]);
  });

  test('places one order if it repeats a call with the same idempotency key', async () => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read', 'orders.write']);
    const { id: productId } = await shop.createProduct();
    const order = { items: [{ product_id: productId, quantity: 1 }], delivery: pickupDelivery, idempotency_key: 'the-same-again' };
    const ids = await Promise.all([callMcpTool(client, 'orders_create', order), callMcpTool(client, 'orders_create', order)]);
    expect(ids[0].body.id).toBe(ids[1].body.id);
    expect((await callMcpTool(client, 'orders_list')).body.data).toHaveLength(1);
    await client.close();
  });

  test('updates an order only with its current ETag', async () => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read', 'orders.write']);
    const { id: productId } = await shop.createProduct();
    const { body } = await callMcpTool(client, 'orders_create', {
      items: [{ product_id: productId, quantity: 1 }],
      delivery: pickupDelivery,
    });
    const { content } = await client.callTool({ name: 'orders_get', arguments: { order_id: body.id } });
    const etag = content.flatMap((part) => (part.type === 'text' && part.text.startsWith('etag: ') ? [part.text.slice(6)] : []))[0];
    const change = { order_id: body.id, note: 'ring twice', if_match: etag };
    expect(await callMcpTool(client, 'orders_update', change)).toMatchObject({ isError: false, body: { note: 'ring twice' } });
    expect(await callMcpTool(client, 'orders_update', change)).toMatchObject({ isError: true, body: { code: 'precondition_failed' } });
    await client.close();
  });

  test('orders within the limits that the customer set on the consent page', async () => {
    const limits = { decision: 'allow', limit_currency: 'EUR', limit_per_order: '5.00', limit_per_period: '8.00', limit_period: 'month' };
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read', 'orders.write'], { consentForm: limits });
    const { id: productId } = await shop.createProduct({ price: 500 });
    const order = (quantity: number) =>
      callMcpTool(client, 'orders_create', { items: [{ product_id: productId, quantity }], delivery: pickupDelivery });
    expect((await order(2)).body).toMatchObject({ code: 'limit_exceeded', errors: [{ limit: 500, requested: 1000 }] });
    expect((await order(1)).isError).toBe(false);
    expect((await order(1)).body).toMatchObject({ code: 'limit_exceeded', errors: [{ limit: 800, spent: 500, available: 300 }] });
    expect((await callMcpTool(client, 'authorization_get', {})).body.budget).toMatchObject({ spent: 500, remaining: 300 });
    await client.close();
  });

  test('that calls a tool without its scope asks the user for the scope', async () => {
    const state: SignInState = { verifier: '' };
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read'], { state });
    const { id: productId } = await shop.createProduct();
    const before = state.authorizationUrl;
    const order = { items: [{ product_id: productId, quantity: 1 }], delivery: pickupDelivery };
    await expect(client.callTool({ name: 'orders_create', arguments: order })).rejects.toThrow('Unauthorized');
    expect(state.authorizationUrl).not.toBe(before);
    const requested = state.authorizationUrl?.searchParams.get('scope')?.split(' ');
    expect(requested).toEqual(expect.arrayContaining(['orders.read', 'orders.write']));
    await client.close();
  });

  test('that sends an invalid call receives the errors', async () => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read', 'orders.write']);
    const outcome = await callMcpTool(client, 'orders_create', { items: [{ product_id: 1, quantity: 0 }], delivery: pickupDelivery }).catch(
      (error: Error) => ({
        isError: true,
        text: error.message,
      }),
    );
    expect(outcome.isError).toBe(true);
    expect(outcome.text).toContain('quantity');
    const { id: productId } = await shop.createProduct({ stock: 1 });
    const soldOut = await callMcpTool(client, 'orders_create', {
      items: [{ product_id: productId, quantity: 2 }],
      delivery: pickupDelivery,
    });
    expect(soldOut).toMatchObject({ isError: true, body: { code: 'out_of_stock', errors: [{ available: 1 }] } });
    await client.close();
  });

  test('loses access immediately when its application is removed', async () => {
    const anna = await signUp(shop.origin);
    const client = await connectMcpClient(shop.origin, anna, ['orders.read', 'connected_apps.read', 'connected_apps.write'], {
      suffix: '?tools=orders,connected_apps',
    });
    const { body } = await callMcpTool(client, 'connected_apps_list');
    expect((await callMcpTool(client, 'connected_apps_remove', { connected_app_id: body.data[0].id })).isError).toBe(false);
    await expect(callMcpTool(client, 'orders_list')).rejects.toThrow('grant request is invalid');
    await client.close();
  });
});

describe('POST /mcp', () => {
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const sendRequest = (headers: Record<string, string> = {}, method = 'POST', body = list): Promise<Response> =>
    fetch(mcpUrl(), {
      method,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      ...(method === 'POST' && { body }),
    });

  test('without a token returns the URL of the resource metadata', async () => {
    const response = await sendRequest();
    expect(response.status).toBe(401);
    const challenge = response.headers.get('www-authenticate') ?? '';
    expect(challenge).not.toContain('error=');
    expect(challenge).toContain('scope="orders.read"');
    const foundProducts = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    const metadata: JsonBody = await (await fetch(foundProducts)).json();
    expect(metadata).toMatchObject({ resource: mcpUrl().href, authorization_servers: [shop.origin] });
  });

  test.each([
    ['?tools=orders,nothing', 'tools', /The tool set "nothing" does not exist\. Use all, .*orders/],
    ['?tools=orders&tools=events', 'tools', /once/],
    ['?readonly=yes', 'readonly', /true, false/],
  ])('with invalid settings (%s) names the parameter', async (suffix, parameter, detail) => {
    const { code, verifier } = await obtainAuthorizationCode(shop.origin, await signUp(shop.origin), {
      scope: 'orders.read',
      resource: mcpUrl().href,
    });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: cliClient.redirectUri };
    const tokenResponse = await fetch(`${shop.origin}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, client_id: cliClient.clientId }),
    });
    const { access_token: token }: JsonBody = await tokenResponse.json();
    const response = await fetch(`${mcpUrl().href}${suffix}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` },
      body: list,
    });
    expect(response.status).toBe(400);
    const body: JsonBody = await response.json();
    expect(body.errors).toEqual([expect.objectContaining({ in: 'query', parameter, detail: expect.stringMatching(detail) })]);
  });

  test('rejects tokens of the API, and the API rejects MCP tokens', async () => {
    const anna = await signUp(shop.origin);
    const { access_token: apiToken } = await obtainTokens(shop.origin, anna, ['orders.read']);
    expect((await sendRequest({ authorization: `Bearer ${apiToken}` })).status).toBe(401);
    const { code, verifier } = await obtainAuthorizationCode(shop.origin, anna, { scope: 'orders.read', resource: mcpUrl().href });
    const form = {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: cliClient.redirectUri,
      client_id: cliClient.clientId,
    };
    const response = await fetch(`${shop.origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const { access_token: mcpToken }: JsonBody = await response.json();
    expect((await sendRequest({ authorization: `Bearer ${mcpToken}` })).status).toBe(200);
    const atApi = await shop.callApi('GET', '/api/v1/orders', { token: mcpToken });
    expect(atApi.status).toBe(401);
    expect((await sendRequest({ authorization: `Bearer ${mcpToken}`, origin: 'https://evil.example' })).status).toBe(403);
    expect((await sendRequest({ authorization: `Bearer ${mcpToken}` }, 'GET')).status).toBe(405);
    expect((await sendRequest({ authorization: `Bearer ${mcpToken}` }, 'POST', 'x'.repeat(1_100_000))).status).toBe(413);
  });
});
