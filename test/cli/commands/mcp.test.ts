import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { renderMcpToolsSource } from '../../../cli/build/generate-mcp-tools.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { createConfigDirectory, spawnCommand } from '../run-command-line.ts';

const shop = withShop();

const main = join(import.meta.dirname, '../../../cli/main.ts');

/** Starts `mandate mcp` with a new user's credential that has these scopes, and connects an MCP client to it. */
async function connectAssistant(scopes: readonly Scope[], ...flags: string[]) {
  const home = await createConfigDirectory();
  const user = await signUp(shop.origin);
  const { access_token: accessToken } = await obtainTokens(shop.origin, user, scopes);
  const credential = { apiUrl: shop.origin, clientId: 'mandate-cli', accessToken, expiresAt: Date.now() + 200_000, scopes };
  await writeFile(home.file, JSON.stringify({ default: credential }), { mode: 0o600 });
  const env = { MANDATE_API_URL: shop.origin, MANDATE_CONFIG_DIR: home.path };
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', ...flags], env }));
  const call = async (name: string, given: Record<string, unknown> = {}): Promise<{ isError: boolean; text: string; body: JsonBody }> => {
    const { isError = false, content } = await client.callTool({ name, arguments: given });
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    return { isError, text, body: text.startsWith('{') ? JSON.parse(text.split('\nhint: ')[0] ?? '') : undefined };
  };
  return {
    client,
    call,
    user,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

describe('mandate mcp', () => {
  test('has generated tools that are up to date with the contract', async () => {
    expect(await readFile(new URL('../../../cli/mcp/tools.gen.ts', import.meta.url), 'utf8')).toBe(await renderMcpToolsSource());
  });

  test('offers only read-only tools by default', async () => {
    await using at = await connectAssistant(['orders.read', 'orders.write']);
    const { tools } = await at.client.listTools();
    expect(tools.length).toBeGreaterThan(15);
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect((await at.call('orders_list', { limit: 5 })).body).toMatchObject({ data: [], has_more: false });
    const { id: productId } = await shop.createProduct();
    const order = { items: [{ product_id: productId, quantity: 1 }], delivery: pickupDelivery };
    await expect(at.call('orders_create', order)).rejects.toThrow('orders_create disabled');
    expect((await at.call('orders_list')).body.data).toEqual([]);
    expect(at.client.getInstructions()).toContain('mandate mcp --allow-writes');
  }, 30_000);

  test('places orders with --allow-writes and marks destructive tools', async () => {
    await using at = await connectAssistant(['orders.read', 'orders.write'], '--allow-writes');
    const { tools } = await at.client.listTools();
    const marked = (name: string) => tools.find((tool) => tool.name === name)?.annotations;
    expect(marked('orders_create')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(marked('orders_cancel')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    const { id: productId } = await shop.createProduct({ price: 500 });
    const placed = await at.call('orders_create', { items: [{ product_id: productId, quantity: 2 }], delivery: pickupDelivery });
    expect(placed).toMatchObject({ isError: false, body: { total: 1000, user_id: at.user.id } });
    expect((await at.call('orders_get', { order_id: placed.body.id })).body).toMatchObject({ id: placed.body.id, status: 'pending' });
    const cancelled = await at.call('orders_cancel', { order_id: placed.body.id });
    expect(cancelled.body).toMatchObject({ status: 'canceled' });
  }, 30_000);

  test('explains how to request a missing scope', async () => {
    await using at = await connectAssistant(['orders.read'], '--allow-writes');
    const { id: productId } = await shop.createProduct();
    const refused = await at.call('orders_create', { items: [{ product_id: productId, quantity: 1 }], delivery: pickupDelivery });
    expect(refused).toMatchObject({ isError: true, body: { code: 'insufficient_scope', status: 403 } });
    expect(refused.text).toContain('mandate login --scopes +orders.write');
  }, 30_000);

  test('offers public data without a sign-in and explains how to sign in', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const env = { MANDATE_API_URL: shop.origin, MANDATE_CONFIG_DIR: '/nowhere' };
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp'], env }));
    expect((await client.callTool({ name: 'products_list', arguments: {} })).isError).toBeFalsy();
    const refused = await client.callTool({ name: 'orders_list', arguments: {} });
    expect(JSON.stringify(refused)).toContain('mandate login');
    await client.close();
  }, 30_000);

  test('exits at the end of its input', async () => {
    expect(await spawnCommand(['mcp']).exited).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
});
