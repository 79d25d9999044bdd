import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { renderMcpToolsSource } from '../../../cli/build/generate-mcp-tools.ts';
import { callMcpTool, connectMcpClient } from '../../support/mcp/mcp-client.ts';
import { signUp, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { createConfigDirectory, spawnCommand } from '../run-command-line.ts';

const shop = withShop();

const main = join(import.meta.dirname, '../../../cli/main.ts');

type Options = { readonly scopes: readonly Scope[]; readonly user?: TestUser };

/** Starts `mandate mcp` with a user's credential that has the given scopes, and connects an MCP client to it. */
async function connectAssistant({ scopes, user: given }: Options, ...flags: string[]) {
  const home = await createConfigDirectory();
  const user = given ?? (await signUp(shop.origin));
  const { access_token: accessToken } = await obtainTokens(shop.origin, user, scopes);
  const { id, name, email } = user;
  const expiresAt = Date.now() + 200_000;
  const credential = { apiUrl: shop.origin, clientId: 'mandate-cli', accessToken, expiresAt, scopes, user: { id, name, email } };
  await writeFile(home.file, JSON.stringify({ default: credential }), { mode: 0o600 });
  const env = { MANDATE_API_URL: shop.origin, MANDATE_CONFIG_DIR: home.path };
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', ...flags], env }));
  return {
    client,
    call: (toolName: string, toolArguments: Record<string, unknown> = {}) => callMcpTool(client, toolName, toolArguments),
    listToolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    user,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

const shoppingScopes: readonly Scope[] = ['orders.read', 'orders.write', 'payments.read', 'payments.write'];

describe('mandate mcp', () => {
  test('has generated tools that are up to date with the contract', async () => {
    expect(await readFile(new URL('../../../cli/mcp/tools.gen.ts', import.meta.url), 'utf8')).toBe(await renderMcpToolsSource());
  });

  test('offers the same tools, resources, prompts and instructions as /mcp', async () => {
    const user = await signUp(shop.origin);
    await using local = await connectAssistant({ scopes: shoppingScopes, user }, '--allow-writes');
    const remote = await connectMcpClient(shop.origin, user, shoppingScopes);
    const describeServer = async (client: Client) => ({
      tools: (await client.listTools()).tools,
      prompts: (await client.listPrompts()).prompts,
      resourceTemplates: (await client.listResourceTemplates()).resourceTemplates,
      instructions: client.getInstructions(),
    });
    const expected = await describeServer(remote);
    await remote.close();
    expect(expected.tools.length).toBeGreaterThan(15);
    expect(expected.prompts.length).toBe(3);
    expect(expected.resourceTemplates.length).toBe(2);
    expect(await describeServer(local.client)).toEqual(expected);
  }, 30_000);

  test.each([
    ['without a flag', []],
    ['with --read-only', ['--read-only']],
  ])(
    'offers only tools that change nothing %s',
    async (_, flags) => {
      await using at = await connectAssistant({ scopes: shoppingScopes }, ...flags);
      const { tools } = await at.client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['products_list', 'orders_list', 'payments_list']));
      expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
      expect((await at.call('orders_list', { limit: 5 })).body).toMatchObject({ data: [], has_more: false });
      const { id: productId } = await shop.createProduct();
      const order = { items: [{ product_id: productId, quantity: 1 }], delivery: pickupDelivery };
      await expect(at.call('orders_create', order)).rejects.toThrow('orders_create not found');
      expect((await at.call('orders_list')).body.data).toEqual([]);
      expect(at.client.getInstructions()).toContain('mandate mcp --allow-writes');
    },
    30_000,
  );

  test('offers the tool sets that --tools names', async () => {
    await using at = await connectAssistant({ scopes: shoppingScopes }, '--tools', 'orders,product_categories', '--read-only');
    expect(await at.listToolNames()).toEqual(['product_categories_list', 'orders_list', 'orders_get']);
    await using none = await connectAssistant({ scopes: shoppingScopes }, '--tools', 'order_exports', '--read-only');
    expect(await none.listToolNames()).toEqual([]);
    await using all = await connectAssistant({ scopes: shoppingScopes }, '--tools', 'all', '--allow-writes');
    expect((await all.listToolNames()).length).toBeGreaterThan(20);
  }, 30_000);

  test.each([
    [['--tools', 'orders,toys'], 'The tool set "toys" does not exist. Use all, '],
    [['--read-only', '--allow-writes'], 'Use either --read-only or --allow-writes'],
  ])('rejects %j', async (flags, message) => {
    const { exitCode, stdout, stderr } = await spawnCommand(['mcp', ...flags]).exited;
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('places orders with --allow-writes and marks destructive tools', async () => {
    await using at = await connectAssistant({ scopes: ['orders.read', 'orders.write'] }, '--allow-writes');
    const { tools } = await at.client.listTools();
    const marked = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
    expect(marked('orders_create')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(marked('orders_cancel')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    const { id: productId } = await shop.createProduct({ price: 500 });
    const placed = await at.call('orders_create', { items: [{ product_id: productId, quantity: 2 }], delivery: pickupDelivery });
    expect(placed).toMatchObject({ isError: false, body: { total: 1000, user_id: at.user.id } });
    const { structuredContent } = await at.client.callTool({ name: 'orders_get', arguments: { order_id: placed.body.id } });
    expect(structuredContent).toMatchObject({ id: placed.body.id, status: 'pending' });
    const cancelled = await at.call('orders_cancel', { order_id: placed.body.id });
    expect(cancelled.body).toMatchObject({ status: 'canceled' });
  }, 30_000);

  test('reads an order as a resource, and reorders it with a prompt', async () => {
    await using at = await connectAssistant({ scopes: shoppingScopes }, '--allow-writes');
    const { id: productId } = await shop.createProduct();
    const { body } = await at.call('orders_create', { items: [{ product_id: productId, quantity: 2 }], delivery: pickupDelivery });
    const uri = `mandate://orders/${body.id}`;
    expect((await at.client.listResources()).resources).toMatchObject([{ uri }]);
    expect((await at.client.readResource({ uri })).contents).toMatchObject([{ uri, text: expect.stringContaining(`"id":${body.id}`) }]);
    await expect(at.client.readResource({ uri: 'mandate://orders/999999' })).rejects.toThrow('not found');
    const { messages } = await at.client.getPrompt({ name: 'reorder_last_order' });
    expect(messages).toMatchObject([
      { content: { text: expect.stringContaining(`Order the items of order ${body.id} again`) } },
      { content: { resource: { uri } } },
    ]);
  }, 30_000);

  test('rejects a call with one sentence that states the next step', async () => {
    await using at = await connectAssistant({ scopes: ['orders.read', 'orders.write'] }, '--allow-writes');
    const { id: productId } = await shop.createProduct({ stock: 1 });
    const refused = await at.call('orders_create', { items: [{ product_id: productId, quantity: 2 }], delivery: pickupDelivery });
    expect(refused.text).toBe(
      `2 units of product ${productId} were ordered, but only 1 is available; order no more than the available units, or choose another product (out_of_stock).`,
    );
    expect(refused).toMatchObject({ isError: true, body: { code: 'out_of_stock', status: 409 } });
  }, 30_000);

  test('does not list a tool without its scope, and explains how to get the scope', async () => {
    await using at = await connectAssistant({ scopes: ['orders.read'] }, '--allow-writes');
    expect(await at.listToolNames()).not.toContain('orders_create');
    expect(at.client.getInstructions()).toContain('mandate login --scopes +SCOPE');
    expect(at.client.getInstructions()).toContain('orders_create (orders.write)');
    const { id: productId } = await shop.createProduct();
    const refused = await at.call('orders_create', { items: [{ product_id: productId, quantity: 1 }], delivery: pickupDelivery });
    expect(refused).toMatchObject({ isError: true, body: { code: 'insufficient_scope', status: 403 } });
    expect(refused.text).toMatch(/^[^{}\n]*; ask the user to run `mandate login --scopes \+orders\.write` \(insufficient_scope\)\.$/);
  }, 30_000);

  test('offers public data without a sign-in and explains how to sign in', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const env = { MANDATE_API_URL: shop.origin, MANDATE_CONFIG_DIR: '/nowhere' };
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp'], env }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('products_list');
    expect((await callMcpTool(client, 'products_list')).isError).toBe(false);
    const refused = await callMcpTool(client, 'orders_list');
    expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/; ask the user to run `mandate login`( \(\w+\))?\.$/) });
    await client.close();
  }, 30_000);

  test('exits at the end of its input', async () => {
    expect(await spawnCommand(['mcp']).exited).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
});
