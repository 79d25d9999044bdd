import { describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { connectMcpClient } from '../../support/mcp/mcp-client.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';

const shop = withShop();

const shoppingScopes: readonly Scope[] = ['orders.read', 'orders.write', 'payments.read', 'payments.write'];

describe.each(['legacy', 'auto'] as const)('an assistant (protocol version: %s)', (protocol) => {
  const anna = shop.customer(['orders.read', 'orders.write']);
  const ben = shop.customer(['orders.read', 'orders.write']);
  const connect = (person: typeof anna, scopes: readonly Scope[], suffix = '') =>
    connectMcpClient(shop.origin, person, scopes, { protocol, suffix });

  test("lists and reads its user's orders and the products as resources", async () => {
    const product = await shop.createProduct();
    const order = await shop.placeOrder(buildOrderInput([product, 2]), anna.token);
    const client = await connect(anna, ['orders.read']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'mandate://orders/{order_id}',
      'mandate://products/{product_id}',
    ]);
    const { resources } = await client.listResources();
    expect(resources[0]).toMatchObject({ uri: `mandate://orders/${order.id}`, description: 'pending', mimeType: 'application/json' });
    const read = async (uri: string): Promise<JsonBody> => {
      const [content] = (await client.readResource({ uri })).contents;
      return JSON.parse(content && 'text' in content ? content.text : '');
    };
    expect(await read(`mandate://orders/${order.id}`)).toEqual((await anna.callApi('GET', `/api/v1/orders/${order.id}`)).body);
    expect(await read(`mandate://products/${product.id}`)).toMatchObject({ id: product.id, sku: product.sku });
    await client.close();
  });

  test('cannot read orders of other users, or resources that do not exist', async () => {
    const order = await shop.placeOrder(buildOrderInput([await shop.createProduct(), 1]), anna.token);
    const client = await connect(ben, ['orders.read']);
    for (const uri of [`mandate://orders/${order.id}`, 'mandate://orders/999999', 'mandate://orders/a', 'mandate://users/1'])
      await expect(client.readResource({ uri }), uri).rejects.toThrow(/not found/i);
    expect((await client.listResources()).resources).not.toContainEqual(expect.objectContaining({ uri: `mandate://orders/${order.id}` }));
    await client.close();
  });

  test('restricted to its own orders neither lists nor reads orders of other applications', async () => {
    const person = await signUp(shop.origin);
    const order = await shop.placeOrder({ user_id: person.id });
    const consentForm = { decision: 'allow', limit_orders: 'own' };
    const client = await connectMcpClient(shop.origin, person, shoppingScopes, { consentForm, protocol });
    expect((await client.listResources()).resources).toEqual([]);
    await expect(client.readResource({ uri: `mandate://orders/${order.id}` })).rejects.toThrow(/not found/i);
    const { messages } = await client.getPrompt({ name: 'reorder_last_order' });
    expect(messages).toMatchObject([{ content: { text: expect.stringContaining('not placed any order') } }]);
    await client.close();
  });

  test('is offered only resources and prompts that its token and its URL permit', async () => {
    const namesOf = async (scopes: readonly Scope[], suffix = '') => {
      const client = await connect(anna, scopes, suffix);
      const [{ resourceTemplates }, { prompts }] = [await client.listResourceTemplates(), await client.listPrompts()];
      await client.close();
      return [...resourceTemplates, ...prompts].map(({ name }) => name);
    };
    expect(await namesOf(shoppingScopes)).toEqual(['order', 'product', 'reorder_last_order', 'find_and_order', 'track_order']);
    expect(await namesOf(['orders.read'])).toEqual(['order', 'product', 'track_order']);
    expect(await namesOf(shoppingScopes, '/readonly')).toEqual(['order', 'product', 'track_order']);
    expect(await namesOf(['users.read'])).toEqual(['product']);
    expect(await namesOf(shoppingScopes, '?tools=delivery_methods')).toEqual([]);
  });

  test('gets prompts with the newest order of the user, or with a chosen order', async () => {
    const [first, newest] = [
      await shop.placeOrder(buildOrderInput([await shop.createProduct(), 1]), ben.token),
      await shop.placeOrder(buildOrderInput([await shop.createProduct(), 3]), ben.token),
    ];
    const client = await connect(ben, shoppingScopes);
    const orderOf = async (name: string, promptArguments: Record<string, string> = {}): Promise<unknown> => {
      const { messages } = await client.getPrompt({ name, arguments: promptArguments });
      const [, content] = messages.map((message) => message.content);
      if (content?.type !== 'resource' || !('text' in content.resource)) throw new Error('the prompt has no order');
      return JSON.parse(content.resource.text);
    };
    expect(await orderOf('reorder_last_order')).toMatchObject({ id: newest.id, items: [{ quantity: 3 }] });
    expect(await orderOf('track_order')).toMatchObject({ id: newest.id });
    expect(await orderOf('track_order', { order_id: String(first.id) })).toMatchObject({ id: first.id });
    await expect(orderOf('track_order', { order_id: '999999' })).rejects.toThrow(/not found/i);
    const found = await client.getPrompt({ name: 'find_and_order', arguments: { what: 'six red mugs', max_price: '30 EUR' } });
    expect(found.messages).toMatchObject([{ content: { text: expect.stringMatching(/six red mugs.*30 EUR.*agreed/) } }]);
    await expect(client.getPrompt({ name: 'find_and_order', arguments: {} })).rejects.toThrow(/what/);
    await client.close();
  });
});
