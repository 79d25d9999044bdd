import { expect, test } from 'vitest';
import { obtainLimitedTokensOfApplication } from '../../support/oauth/limited-tokens.ts';
import { createWebApplication, signUp } from '../../support/oauth/oauth-flow.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import {
  connectApplicationAndDecider,
  connectRequestingApplication,
  limitsOf50PerOrder,
  requestApprovalOf60,
  type RequestingApplication,
} from '../../support/shop/approval-requests.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();

/** Reads everything that an order or an approval could change. */
const readState = (): Promise<unknown> =>
  shop.db.em.fork().execute(`
    select (select count(*) from orders) as orders, (select count(*) from events) as events, (select count(*) from audit_events) as audit_events,
           (select sum(available) from product_stock) as stock, (select jsonb_agg(b order by order_id) from budgeted_orders b) as budgeted_orders,
           (select jsonb_agg(a order by id) from approvals a) as approvals, (select jsonb_agg(q order by id) from quotes q) as quotes`);

async function approveOrderOf60() {
  const connected = await connectApplicationAndDecider(shop);
  const approval = await requestApprovalOf60(connected.app);
  expect((await connected.decide(approval.id, 'approval')).status).toBe(201);
  return { ...connected, approval };
}

const expireApproval = async ({ id, quote_id: quoteId }: JsonBody): Promise<void> => {
  const em = shop.db.em.fork();
  await em.execute(`update quotes set expires_at = now() - interval '1 second' where id = ?`, [quoteId]);
  await em.execute(`update approvals set expires_at = now() - interval '1 second' where id = ?`, [id]);
};

/** Connects one application to the accounts of two customers. Returns, for each customer, a function that sends requests. */
async function connectTwoCustomers() {
  const client = await createWebApplication(shop.db, ['orders.write']);
  const connect = async () => {
    const tokens = await obtainLimitedTokensOfApplication(
      shop.origin,
      await signUp(shop.origin),
      client,
      ['orders.write'],
      limitsOf50PerOrder,
    );
    return (path: string, body: unknown) => shop.callApi('POST', `/api/v1${path}`, { token: tokens.access_token, body });
  };
  const [anna, ben] = [await connect(), await connect()];
  const { body: quote } = await anna('/quotes', buildOrderInput([await shop.createProduct({ price: 6000 }), 1]));
  return { anna, ben, quote };
}

type InvalidUse = { readonly send: () => Promise<ApiResponse>; readonly status: number; readonly code: string };

const invalidUses: Record<string, () => Promise<InvalidUse>> = {
  'a second time': async () => {
    const { app, approval } = await approveOrderOf60();
    expect((await app.orderFromQuote(approval.quote_id)).status).toBe(201);
    return { send: () => app.orderFromQuote(approval.quote_id), status: 409, code: 'quote_not_open' };
  },
  'by another application': async () => {
    const { anna, approval } = await approveOrderOf60();
    const other = await connectRequestingApplication(shop, anna);
    return { send: () => other.orderFromQuote(approval.quote_id), status: 400, code: 'invalid_request' };
  },
  'after it has expired': async () => {
    const { app, approval } = await approveOrderOf60();
    await expireApproval(approval);
    return { send: () => app.orderFromQuote(approval.quote_id), status: 409, code: 'quote_not_open' };
  },
  'for another quote of the same items': async () => {
    const { app, approval } = await approveOrderOf60();
    const items = approval.items.map(({ product_id, quantity }: JsonBody) => ({ product_id, quantity }));
    const changed = await app.post('/quotes', { ...buildOrderInput(), items });
    return { send: () => app.orderFromQuote(changed.body.id), status: 403, code: 'limit_exceeded' };
  },
  'for an order without the quote': async () => {
    const { app, approval } = await approveOrderOf60();
    const items = approval.items.map(({ product_id, quantity }: JsonBody) => ({ product_id, quantity }));
    return { send: () => app.post('/orders', { ...buildOrderInput(), items }), status: 403, code: 'limit_exceeded' };
  },
  'at another price than the approved one': async () => {
    const { app, approval } = await approveOrderOf60();
    const changed = await shop.callApi('PATCH', `/api/v1/products/${approval.items[0].product_id}`, {
      token: shop.token,
      body: { price: 5900 },
    });
    expect(changed.status).toBe(200);
    return { send: () => app.orderFromQuote(approval.quote_id), status: 409, code: 'price_changed' };
  },
  'for a quote of another customer': async () => {
    const { anna, ben, quote } = await connectTwoCustomers();
    expect((await anna('/approvals', { quote_id: quote.id })).status).toBe(201);
    return { send: () => ben('/orders', { quote_id: quote.id }), status: 400, code: 'invalid_request' };
  },
};

test.each(Object.entries(invalidUses))('an approval cannot be used %s, and nothing is written', async (_, prepare) => {
  const { send, status, code } = await prepare();
  const before = await readState();
  const response = await send();
  expect([response.status, response.body.code], response.text).toEqual([status, code]);
  expect(await readState()).toEqual(before);
});

test("an approval of another customer's quote cannot be requested, and nothing is written", async () => {
  const { ben, quote } = await connectTwoCustomers();
  const before = await readState();
  const response = await ben('/approvals', { quote_id: quote.id });
  expect([response.status, response.body.errors]).toMatchObject([400, [{ pointer: '#/quote_id', code: 'unknown_reference' }]]);
  expect(await readState()).toEqual(before);
});

const endedQuotes: Record<string, (app: RequestingApplication, quoteId: number) => Promise<unknown>> = {
  'it was canceled': (app, quoteId) => app.post(`/quotes/${quoteId}/cancellation`),
  'it expired at': (_, quoteId) =>
    shop.db.em.fork().execute(`update quotes set expires_at = now() - interval '1 second' where id = ?`, [quoteId]),
  'it has already been used to place an order': (app, quoteId) => app.orderFromQuote(quoteId),
};

test.each(Object.entries(endedQuotes))('an approval of a quote cannot be requested if %s, and nothing is written', async (reason, end) => {
  const app = await connectRequestingApplication(shop, await signUp(shop.origin));
  const { id } = await app.createQuote(2000);
  await end(app, id);
  const before = await readState();
  const response = await app.requestApproval(id);
  expect([response.status, response.body.code]).toEqual([409, 'invalid_transition']);
  expect(response.body.detail).toContain(`Quote ${id} cannot be approved: ${reason}`);
  expect(await readState()).toEqual(before);
});
