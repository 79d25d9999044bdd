import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callMcpTool, connectMcpClient } from '../../support/mcp/mcp-client.ts';
import { signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const limits = { decision: 'allow', limit_currency: 'EUR', limit_per_order: '50.00', limit_per_period: '60.00', limit_period: 'month' };

describe('a refused tool call', () => {
  let anna: TestUser;
  let client: Client;
  let productId: number;
  beforeAll(async () => {
    anna = await signUp(shop.origin);
    client = await connectMcpClient(shop.origin, anna, ['orders.read', 'orders.write'], { consentForm: limits });
    productId = (await shop.createProduct({ price: 2000, stock: 4 })).id;
  });
  afterAll(() => client.close());

  const order = (quantity: number, more: Record<string, unknown> = {}) =>
    callMcpTool(client, 'orders_create', { items: [{ product_id: productId, quantity }], delivery: pickupDelivery, ...more });

  /** Returns the error text of a rejected tool call, and expects the text to be one sentence without JSON. */
  async function describeRefusedCall(call: ReturnType<typeof callMcpTool>): Promise<string> {
    const { isError, text } = await call;
    expect(isError).toBe(true);
    expect(text).toMatch(/^[^{}\n]{20,350} \([a-z_]+\)\.$/);
    expect(text.replaceAll(/\d\.\d/g, ''), 'one sentence').not.toMatch(/[.!?] /);
    return text;
  }

  test('returns one sentence with the reason and the next step', async () => {
    expect(await describeRefusedCall(order(5))).toMatch(
      /EUR per order.*100\.00 EUR; lower the total, or request approval of a quote with `quotes_create` and `approvals_create` .*\(limit_exceeded\)\.$/,
    );
    expect(await describeRefusedCall(order(1, { items: [{ product_id: 999_999, quantity: 1 }] }))).toBe(
      '`items.0.product_id`: There is no product 999999; correct the arguments and call the tool again (invalid_request).',
    );
    expect(await describeRefusedCall(order(1, { total: 5 }))).toMatch(/costs 2000, not 5; show the customer .*\(price_changed\)\.$/);
    expect(await describeRefusedCall(callMcpTool(client, 'orders_get', { order_id: 999_999 }))).toMatch(
      /^Order 999999 .*; check the ID, or search for it with a list tool \(not_found\)\.$/,
    );
    const soldOut = await shop.createProduct({ price: 100, stock: 1 });
    expect(await describeRefusedCall(order(1, { items: [{ product_id: soldOut.id, quantity: 2 }] }))).toBe(
      `2 units of product ${soldOut.id} were ordered, but only 1 is available; order no more than the available units, or choose another product (out_of_stock).`,
    );
  });

  test('that exceeds a budget states the remaining amount and when the budget is renewed', async () => {
    expect((await order(2)).isError).toBe(false);
    expect(await describeRefusedCall(order(2))).toMatch(/20\.00 EUR remains.*; lower the total, or wait until \d{4}-\d\d-\d\dT/);
  });

  test('after a state change states that the new state does not permit the call', async () => {
    const { body } = await order(1);
    const cancel = () => callMcpTool(client, 'orders_cancel', { order_id: body.id });
    expect((await cancel()).isError).toBe(false);
    expect(await describeRefusedCall(cancel())).toMatch(/canceled.*\(invalid_transition\)\.$/);
  });

  test('that contains a product of another category names the product and the permitted categories', async () => {
    const product = await shop.createProduct({ category: 'books', price: 100 });
    const tea = await shop.createProduct({ category: 'tea', price: 100 });
    const consentForm = { decision: 'allow', limit_category: 'books' };
    const limited = await connectMcpClient(shop.origin, anna, ['orders.read', 'orders.write'], { consentForm });
    const items = [product, tea].map(({ id }) => ({ product_id: id, quantity: 1 }));
    const text = await describeRefusedCall(callMcpTool(limited, 'orders_create', { items, delivery: pickupDelivery }));
    expect(text).toMatch(
      new RegExp(
        `^Only products in the category books can be ordered, and product ${tea.id} is in the category tea; order only products in these categories, or request approval of a quote with \`quotes_create\` .*\\(limit_exceeded\\)\\.$`,
      ),
    );
    await limited.close();
  });

  test('includes the whole problem for programs', async () => {
    expect((await order(5)).body).toMatchObject({ code: 'limit_exceeded', status: 403, errors: [{ limit: 5000, requested: 10_000 }] });
  });
});
