import { describe, expect, test } from 'vitest';
import { backdateSessions } from '../../support/oauth/backdate-sessions.ts';
import { obtainLimitedTokens, obtainLimitedTokensOfApplication, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { createWebApplication, obtainTokens, signUp } from '../../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import {
  connectApplicationAndDecider,
  connectRequestingApplication,
  limitsOf50PerOrder,
  requestApprovalOf60,
} from '../../support/shop/approval-requests.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { useEventJobs } from '../../support/webhooks/use-event-jobs.ts';

const shop = withShop();
useEventJobs(shop);
const connect = (details?: RequestedLimits) => connectApplicationAndDecider(shop, details);

describe('waiting for a decision', () => {
  test('ends as soon as the customer decides', async () => {
    const { app, decide } = await connect();
    const { id } = await requestApprovalOf60(app);
    const waiting = app.call('GET', `/approvals/${id}?wait=30`);
    await decide(id, 'approval');
    expect((await waiting).body.status).toBe('approved');
  });

  test('returns immediately if the customer has already decided, and otherwise after the wait time', async () => {
    const { app, decide } = await connect();
    const { id } = await requestApprovalOf60(app);
    expect((await app.call('GET', `/approvals/${id}?wait=1`)).body.status).toBe('pending');
    await decide(id, 'decline');
    expect((await app.call('GET', `/approvals/${id}?wait=30`)).body.status).toBe('declined');
  });
});

describe('the approval mode that the customer allows', () => {
  test('"always": every order needs an approval, even within the limits', async () => {
    const { app, decide } = await connect({ ...limitsOf50PerOrder, approval: 'always' });
    const product = await shop.createProduct({ price: 1000 });
    const rejected = await app.post('/orders', buildOrderInput([product, 1]));
    expect(rejected.body).toMatchObject({ code: 'limit_exceeded', errors: [{ approvable: true, requested: 1000 }] });
    const quote = await app.createQuote(1000);
    expect((await app.orderFromQuote(quote.id)).body.code).toBe('limit_exceeded');
    const { body } = await app.requestApproval(quote.id);
    expect(body.reason).toMatchObject({ code: 'every_order' });
    await decide(body.id, 'approval');
    expect((await app.orderFromQuote(quote.id)).status).toBe(201);
  });

  test('"never": the application cannot request approvals', async () => {
    const { app } = await connect({ ...limitsOf50PerOrder, approval: 'never' });
    const quote = await app.createQuote(6000);
    expect((await app.requestApproval(quote.id)).body.code).toBe('forbidden');
    const order = await app.orderFromQuote(quote.id);
    expect(order.body).toMatchObject({ code: 'limit_exceeded', errors: [{ approvable: false }] });
    expect(order.body.detail).not.toContain('/approvals');
  });

  test('states a budget and a currency as reasons', async () => {
    const { app } = await connect({ limits: { currency: 'EUR', per_period: 5000, period: 'week' } });
    expect((await app.post('/orders', buildOrderInput([await shop.createProduct({ price: 3000 }), 1]))).status).toBe(201);
    const { body } = await app.requestApproval((await app.createQuote(2500)).id);
    expect(body.reason).toEqual({ code: 'per_period', categories: null, currency: 'EUR', limit: 5000, spent: 3000, period: 'week' });
    const dollars = await connect({ limits: { currency: 'USD', per_order: 5000 } });
    const { body: other } = await dollars.app.requestApproval((await dollars.app.createQuote(100)).id);
    expect(other.reason).toMatchObject({ code: 'currency', currency: 'USD' });
  });
});

test('an application can have five pending requests', async () => {
  const { app, decide } = await connect();
  const requested: JsonBody[] = [];
  for (let count = 0; count < 5; count += 1) requested.push(await requestApprovalOf60(app));
  const quote = await app.createQuote(6000);
  expect((await app.requestApproval(quote.id)).body).toMatchObject({
    code: 'too_many_approvals',
    detail: expect.stringContaining('maximum of 5 pending requests'),
  });
  await decide(requested[0]?.id, 'decline');
  expect((await app.requestApproval(quote.id)).status).toBe(201);
});

test('an application can request twenty approvals in 24 hours, even if it cancels them', async () => {
  const { app } = await connect();
  const { id } = await requestApprovalOf60(app);
  await app.post(`/approvals/${id}/cancellation`);
  const em = shop.db.em.fork();
  await em.execute(
    `insert into approvals (quote_id, user_id, client_id, grant_id, expires_at, canceled_at)
     select quote_id, user_id, client_id, grant_id, expires_at, canceled_at from approvals, generate_series(1, 19) where id = ?`,
    [id],
  );
  expect((await app.requestApproval((await app.createQuote(6000)).id)).body.code).toBe('too_many_approvals');
});

describe('deciding through the API', () => {
  test('is not possible for the application that requested the approval, or for an application with limits', async () => {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write', 'approvals.decide']);
    const send = (path: string, body?: unknown) => shop.callApi('POST', `/api/v1${path}`, { token, ...(body !== undefined && { body }) });
    const { body: quote } = await send('/quotes', buildOrderInput([await shop.createProduct(), 1]));
    const { body } = await send('/approvals', { quote_id: quote.id });
    expect((await send(`/approvals/${body.id}/approval`)).body).toMatchObject({
      code: 'forbidden',
      detail: 'An application cannot approve or decline its own requests.',
    });
    const { access_token: limited } = await obtainLimitedTokens(shop.origin, anna, ['approvals.decide'], limitsOf50PerOrder);
    const app = await connectRequestingApplication(shop, anna);
    const { id } = await requestApprovalOf60(app);
    expect((await shop.callApi('POST', `/api/v1/approvals/${id}/approval`, { token: limited })).body.code).toBe('forbidden');
  });

  test('is not possible for an application that is no longer operated by the shop', async () => {
    const anna = await signUp(shop.origin);
    const client = await createWebApplication(shop.db, ['approvals.decide']);
    const { access_token: token } = await obtainLimitedTokensOfApplication(shop.origin, anna, client, ['approvals.decide'], undefined);
    const { id } = await requestApprovalOf60(await connectRequestingApplication(shop, anna));
    await shop.db.em.fork().execute('update applications set first_party = false where client_id = ?', [client.clientId]);
    expect((await shop.callApi('POST', `/api/v1/approvals/${id}/approval`, { token })).body.code).toBe('forbidden');
  });

  test('requires a recent sign-in to approve, but not to decline', async () => {
    const anna = await signUp(shop.origin);
    await backdateSessions(shop.db, anna.id, 20);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['approvals.decide']);
    const { id } = await requestApprovalOf60(await connectRequestingApplication(shop, anna));
    const approved = await shop.callApi('POST', `/api/v1/approvals/${id}/approval`, { token });
    expect([approved.status, approved.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('max_age="900"')]);
    expect((await shop.callApi('POST', `/api/v1/approvals/${id}/decline`, { token })).status).toBe(201);
  });

  test('requires a second factor above the amount that the customer set', async () => {
    const { anna, app, decide } = await connect();
    const em = shop.db.em.fork();
    await em.execute(`insert into approval_settings (user_id, second_factor_above, currency, updated_at) values (?, 5999, 'EUR', now())`, [
      anna.id,
    ]);
    const { id } = await requestApprovalOf60(app);
    const approved = await decide(id, 'approval');
    expect([approved.status, approved.body.code, approved.headers.get('www-authenticate')]).toEqual([
      401,
      'insufficient_user_authentication',
      expect.stringContaining('acr_values="urn:mandate:two-factors"'),
    ]);
    await em.execute('update approval_settings set second_factor_above = 6000 where user_id = ?', [anna.id]);
    expect((await decide(id, 'approval')).status).toBe(201);
  });

  test('requires a scope that only applications of the shop can have', async () => {
    const { access_token: token } = await obtainTokens(shop.origin, await signUp(shop.origin), ['approvals.decide']);
    expect((await shop.callApi('GET', '/api/v1/approvals', { token })).status).toBe(200);
    const application = { name: 'Third party', type: 'confidential', grant_types: ['client_credentials'], scopes: ['approvals.decide'] };
    const created = await shop.callApi('POST', '/api/v1/applications', { token: shop.token, body: application });
    expect([created.status, created.body.errors]).toMatchObject([400, [{ pointer: '#/scopes' }]]);
    const key = await shop.callApi('POST', '/api/v1/api-keys', { token, body: { name: 'Key', scopes: ['approvals.decide'] } });
    expect(key.status).toBeGreaterThanOrEqual(400);
  });
});
