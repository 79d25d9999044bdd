import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { connectMcpClient } from '../../support/mcp/mcp-client.ts';
import { signUp, signUpWithRole, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

describe('an assistant is offered', () => {
  const listToolNames = async (person: TestUser, scopes: readonly Scope[], suffix = ''): Promise<string[]> => {
    const client = await connectMcpClient(shop.origin, person, scopes, { suffix });
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  };
  const customerScopes: readonly Scope[] = ['orders.read', 'orders.write', 'payments.read', 'payments.write', 'events.read'];

  test('by default at most 25 shopping tools, whose definitions use at most 5,000 tokens', async () => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), customerScopes);
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.map(({ name }) => name)).toEqual([
      'products_list',
      'products_get',
      'product_categories_list',
      'delivery_methods_list',
      'delivery_methods_get',
      'orders_create',
      'orders_list',
      'orders_get',
      'orders_update',
      'orders_cancel',
      'payments_create',
      'payments_list',
      'payments_get',
      'payments_cancel',
      'shipments_list',
      'shipments_get',
      'authorization_get',
    ]);
    // This length corresponds to about 5,000 tokens. `npm run test:package` counts the tokens.
    expect(JSON.stringify(tools).length).toBeLessThan(22_000);
  });

  test('with limits, the tools that request an approval, whose definitions use at most 5,000 tokens', async () => {
    const consentForm = { decision: 'allow', limit_currency: 'EUR', limit_per_order: '10' };
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), customerScopes, { consentForm });
    const { tools } = await client.listTools();
    await client.close();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual([
      'products_list',
      'products_get',
      'product_categories_list',
      'delivery_methods_list',
      'orders_create',
      'orders_list',
      'orders_get',
      'orders_cancel',
      'quotes_create',
      'approvals_create',
      'approvals_get',
      'payments_create',
      'payments_get',
      'shipments_list',
      'authorization_get',
    ]);
    expect(JSON.stringify(tools).length / 4.3).toBeLessThan(5_000);
  });

  test.each([
    ['without limits of amounts', { limit_orders: 'own' }],
    ['if it cannot request approvals', { limit_currency: 'EUR', limit_per_order: '10', limit_approval: 'never' }],
  ])('%s, no tools that request an approval', async (_case, limits) => {
    const consentForm = { decision: 'allow', ...limits };
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), customerScopes, { consentForm });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    await client.close();
    expect([names.includes('approvals_create'), names.includes('orders_update')]).toEqual([false, true]);
  });

  test('with limits at /mcp/readonly, only the approval tool that reads approvals', async () => {
    const consentForm = { decision: 'allow', limit_approval: 'always' };
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), customerScopes, { consentForm, suffix: '/readonly' });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    await client.close();
    expect([names.includes('approvals_get'), names.includes('approvals_create')]).toEqual([true, false]);
  });

  test('only tools that its token can use, and told which scopes would add tools', async () => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read']);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['products_list', 'orders_get', 'shipments_list']));
    expect(tools.filter(({ name }) => /orders_(?:create|update|cancel)|payments/.test(name))).toEqual([]);
    expect(client.getInstructions()).toContain('orders_create (orders.write)');
    await client.close();
  });

  test('no tools for staff if the user is a customer', async () => {
    expect(await listToolNames(await signUp(shop.origin), ['orders.read'], '?tools=users')).toEqual([]);
    const administrator = await signUpWithRole(shop.db, shop.origin, 'admin');
    expect(await listToolNames(administrator, ['users.manage'], '?tools=users')).toContain('users_create');
  });

  test('the tool sets in the URL', async () => {
    const anna = await signUp(shop.origin);
    expect(await listToolNames(anna, customerScopes, '?tools=events,product_categories')).toEqual([
      'product_categories_list',
      'events_list',
      'events_get',
    ]);
    expect((await listToolNames(anna, customerScopes, '?tools=all')).length).toBeGreaterThan(20);
  });

  test.each(['/readonly', '?readonly=true'])('only tools that change nothing at /mcp%s', async (suffix) => {
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), customerScopes, { suffix });
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(8);
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    await expect(client.callTool({ name: 'orders_cancel', arguments: { order_id: 1 } })).rejects.toThrow('orders_cancel');
    await client.close();
  });

  test('list rows as a compact table, and all fields as structured content', async () => {
    const category = `plates-${randomInt(1e6)}`;
    for (let n = 0; n < 10; n += 1) await shop.createProduct({ sku: `PLATE-${n}-${randomInt(1e6)}`, name: `Dinner plate ${n}`, category });
    const client = await connectMcpClient(shop.origin, await signUp(shop.origin), ['orders.read']);
    const { content, structuredContent } = await client.callTool({ name: 'products_list', arguments: { category } });
    const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    expect(text.split('\n')[0]).toMatch(/^id\tsku\tname\t/);
    expect(text).toContain('\tDinner plate 3\t');
    // This length corresponds to about 600 tokens. `npm run test:package` counts the tokens.
    expect(text.length).toBeLessThan(1_260);
    expect(structuredContent).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ updated_at: expect.any(String) })]),
    });
    await client.close();
  });
});
