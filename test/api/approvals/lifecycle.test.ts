import { describe, expect, test } from 'vitest';
import { recordEventsOfNewlyExpiredApprovals } from '../../../server/approvals/record-expirations-and-cancel-for-grants.ts';
import { obtainLimitedTokensOfApplication, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { createWebApplication, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import {
  connectApplicationAndDecider,
  connectRequestingApplication,
  limitsOf50PerOrder,
  requestApprovalOf60,
  type RequestingApplication,
} from '../../support/shop/approval-requests.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { useEventJobs } from '../../support/webhooks/use-event-jobs.ts';

const shop = withShop();
useEventJobs(shop);
const connect = (details?: RequestedLimits) => connectApplicationAndDecider(shop, details);

const listApprovalEvents = async (app: RequestingApplication, id: number): Promise<JsonBody[]> =>
  (await app.call('GET', `/events?subject_type=approval&subject_id=${id}`)).body.data;

const listAuditEvents = (id: number): Promise<{ action: string; client_id: string | null; details: JsonBody }[]> =>
  shop.db.em.fork().execute('select action, client_id, details from audit_events where subject = ? order by id', [`approval:${id}`]);

/** Returns a function that, acting as the customer, changes the application's limits. */
async function prepareLimitChange({ browser }: Pick<TestUser, 'browser'>, { clientId }: RequestingApplication) {
  const { access_token: token } = await obtainTokens(shop.origin, { browser }, ['connected_apps.read', 'connected_apps.write']);
  const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token });
  const connected = body.data.find(({ application }: JsonBody) => application.client_id === clientId);
  return async (method: string, limits?: object): Promise<void> => {
    const path = `/api/v1/connected-apps/${connected.id}/limits`;
    const { status, text } = await shop.callApi(method, path, { token, ...(limits && { body: limits }) });
    expect(status, text).toBeLessThan(300);
  };
}

describe('an approval', () => {
  test('states what is requested, by which application, for how much, and why the limit does not cover it', async () => {
    const { app } = await connect();
    const quote = await app.createQuote(6000);
    const { body } = await app.requestApproval(quote.id);
    expect(body).toMatchObject({
      status: 'pending',
      quote_id: quote.id,
      client_id: app.clientId,
      application_name: 'Test application',
      total: 6000,
      currency: 'EUR',
      message: 'The printer needs paper.',
      reason: { code: 'per_order', limit: 5000 },
      expires_at: quote.expires_at,
      items: [{ quantity: 1, name: 'White hanging heart', total: 6000 }],
    });
    expect((await app.call('GET', `/approvals/${body.id}`)).body).toEqual(body);
    expect((await app.call('GET', '/approvals?status=pending')).body.data).toMatchObject([{ id: body.id, status: 'pending' }]);
    expect((await app.call('GET', '/approvals?status=approved,declined,used,canceled,expired')).body.data).toEqual([]);
  });

  test('lets the application order above its limit once, without counting toward the budget', async () => {
    const { app, decide } = await connect();
    const quote = await app.createQuote(6000);
    const rejected = await app.orderFromQuote(quote.id);
    expect([rejected.status, rejected.body]).toMatchObject([
      403,
      { code: 'limit_exceeded', errors: [{ pointer: '#/quote_id', limit: 5000, requested: 6000, approvable: true }] },
    ]);
    const { body: approval } = await app.requestApproval(quote.id);
    const pending = await app.orderFromQuote(quote.id);
    expect(pending.body).toMatchObject({ code: 'limit_exceeded', errors: [{ approval_id: approval.id }] });
    expect(pending.body.detail).toContain(`Approval of this order is pending (approval ${approval.id})`);
    expect((await decide(approval.id, 'approval')).body).toMatchObject({ status: 'approved' });
    const order = await app.orderFromQuote(quote.id);
    expect([order.status, order.body.total]).toEqual([201, 6000]);
    expect((await app.call('GET', `/approvals/${approval.id}`)).body).toMatchObject({ status: 'used', order_id: order.body.id });
    expect(await app.readBudget()).toMatchObject({ spent: 0, remaining: 20_000 });
    expect((await app.post(`/orders/${order.body.id}/payments`, { provider: 'manual' })).status).toBe(201);
    expect(await app.readBudget()).toMatchObject({ spent: 0 });
    expect((await app.orderFromQuote(quote.id)).body.code).toBe('quote_not_open');
  });

  test('is recorded in events and the audit log at every step', async () => {
    const { app, decide } = await connect();
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    await decide(id, 'approval');
    expect((await app.orderFromQuote(quoteId)).status).toBe(201);
    await expect
      .poll(async () => (await listApprovalEvents(app, id)).map(({ type, data }) => [type, data.object.status]))
      .toEqual([
        ['approval.requested', 'pending'],
        ['approval.approved', 'approved'],
        ['approval.used', 'used'],
      ]);
    expect(await listAuditEvents(id)).toMatchObject([
      { action: 'approval.requested', client_id: app.clientId, details: { total: 6000 } },
      { action: 'approval.approved', client_id: 'mandate-cli', details: { second_factor: false } },
      { action: 'approval.used', client_id: app.clientId },
    ]);
  });

  test('that was declined or canceled is recorded in events and in the audit log', async () => {
    const { app, decide } = await connect();
    const [declined, canceled] = [await requestApprovalOf60(app), await requestApprovalOf60(app)];
    expect((await decide(declined.id, 'decline')).status).toBe(201);
    expect((await app.post(`/approvals/${canceled.id}/cancellation`)).status).toBe(201);
    for (const [{ id }, status, clientId] of [
      [declined, 'declined', 'mandate-cli'],
      [canceled, 'canceled', app.clientId],
    ] as const) {
      await expect
        .poll(async () => (await listApprovalEvents(app, id)).map(({ type, data }) => [type, data.object.status]))
        .toEqual([
          ['approval.requested', 'pending'],
          [`approval.${status}`, status],
        ]);
      expect(await listAuditEvents(id)).toMatchObject([
        { action: 'approval.requested', client_id: app.clientId },
        { action: `approval.${status}`, client_id: clientId, details: { total: 6000 } },
      ]);
    }
  });

  test('that was declined permits no order, and its quote cannot be submitted again', async () => {
    const { app, decide } = await connect();
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    expect((await decide(id, 'decline')).body).toMatchObject({ status: 'declined' });
    const order = await app.orderFromQuote(quoteId);
    expect([order.status, order.body.detail]).toEqual([403, expect.stringContaining('The customer declined this order')]);
    expect((await app.requestApproval(quoteId)).body.code).toBe('conflict');
    for (const decision of ['approval', 'decline'] as const) expect((await decide(id, decision)).body.code).toBe('invalid_transition');
  });

  test('that the application canceled permits no order, and the quote can be submitted again', async () => {
    const { app, decide } = await connect();
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    await decide(id, 'approval');
    expect((await app.post(`/approvals/${id}/cancellation`)).body).toMatchObject({ status: 'canceled' });
    expect((await app.orderFromQuote(quoteId)).body.code).toBe('limit_exceeded');
    expect((await app.post(`/approvals/${id}/cancellation`)).body.code).toBe('invalid_transition');
    expect((await decide(id, 'approval')).body.code).toBe('invalid_transition');
    expect((await app.requestApproval(quoteId)).status).toBe(201);
  });

  test('covers only its quote, so a changed order needs a new approval', async () => {
    const { app, decide } = await connect();
    const { id } = await requestApprovalOf60(app);
    await decide(id, 'approval');
    const changed = await app.createQuote(6000);
    expect((await app.orderFromQuote(changed.id)).body.code).toBe('limit_exceeded');
    expect((await app.post('/orders', buildOrderInput([await shop.createProduct({ price: 6000 }), 1]))).body.code).toBe('limit_exceeded');
  });

  test('cannot be requested, read, listed, canceled or used by another application', async () => {
    const { anna, app, decide } = await connect();
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    await decide(id, 'approval');
    const other = await connectRequestingApplication(shop, anna);
    expect((await other.requestApproval(quoteId)).body.code).toBe('invalid_request');
    expect((await other.call('GET', `/approvals/${id}`)).body.code).toBe('not_found');
    expect((await other.call('GET', '/approvals')).body.data).toEqual([]);
    await expect.poll(async () => (await listApprovalEvents(app, id)).length).toBe(2);
    expect(await listApprovalEvents(other, id)).toEqual([]);
    expect((await other.post(`/approvals/${id}/cancellation`)).body.code).toBe('not_found');
    expect((await other.orderFromQuote(quoteId)).status).toBe(400);
    expect((await app.orderFromQuote(quoteId)).status).toBe(201);
  });

  test('cannot be used by the same application on another device', async () => {
    const { anna, decide } = await connect();
    const client = await createWebApplication(shop.db, ['orders.write']);
    const token = async () =>
      (await obtainLimitedTokensOfApplication(shop.origin, anna, client, ['orders.write'], limitsOf50PerOrder)).access_token;
    const [first, second] = [await token(), await token()];
    const send = (path: string, bearer: string, body: unknown) => shop.callApi('POST', `/api/v1${path}`, { token: bearer, body });
    const quote = await send('/quotes', first, buildOrderInput([await shop.createProduct({ price: 6000 }), 1]));
    const { body } = await send('/approvals', first, { quote_id: quote.body.id });
    await decide(body.id, 'approval');
    expect((await send('/orders', second, { quote_id: quote.body.id })).body.code).toBe('limit_exceeded');
    expect((await send('/orders', first, { quote_id: quote.body.id })).status).toBe(201);
  });

  test('expires with its quote: it can neither be used nor decided, and the expiration is reported once', async () => {
    const { app, decide } = await connect();
    const [approved, pending] = [await requestApprovalOf60(app), await requestApprovalOf60(app)];
    await decide(approved.id, 'approval');
    const em = shop.db.em.fork();
    for (const { id, quote_id: quoteId } of [approved, pending]) {
      await em.execute(`update quotes set expires_at = now() - interval '1 second' where id = ?`, [quoteId]);
      await em.execute(`update approvals set expires_at = now() - interval '1 second' where id = ?`, [id]);
    }
    expect((await app.orderFromQuote(approved.quote_id)).body.code).toBe('quote_not_open');
    expect((await decide(pending.id, 'approval')).body.detail).toContain('expired');
    expect((await app.call('GET', '/approvals?status=expired')).body.data.map(({ id }: JsonBody) => id)).toEqual([pending.id, approved.id]);
    await recordEventsOfNewlyExpiredApprovals(shop.db.em.fork(), new Date());
    await recordEventsOfNewlyExpiredApprovals(shop.db.em.fork(), new Date());
    await expect
      .poll(async () => (await listApprovalEvents(app, pending.id)).map(({ type }) => type))
      .toEqual(['approval.requested', 'approval.expired']);
    expect((await listAuditEvents(pending.id)).map(({ action }) => action)).toEqual(['approval.requested', 'approval.expired']);
  });

  test('is canceled when the customer disconnects the application', async () => {
    const { anna, app, token } = await connect();
    const { id } = await requestApprovalOf60(app);
    const { access_token: manager } = await obtainTokens(shop.origin, anna, ['connected_apps.read', 'connected_apps.write']);
    const { body } = await shop.callApi('GET', '/api/v1/connected-apps', { token: manager });
    const connected = body.data.find(({ application }: JsonBody) => application.client_id === app.clientId);
    expect((await shop.callApi('DELETE', `/api/v1/connected-apps/${connected.id}`, { token: manager })).status).toBe(204);
    expect((await shop.callApi('GET', `/api/v1/approvals/${id}`, { token })).body.status).toBe('canceled');
    expect((await app.call('GET', `/approvals/${id}`)).status).toBe(401);
    const readEvents = async () =>
      (await shop.callApi('GET', `/api/v1/events?subject_type=approval&subject_id=${id}`, { token })).body.data;
    await expect
      .poll(async () => (await readEvents()).map(({ type }: JsonBody) => type))
      .toEqual(['approval.requested', 'approval.canceled']);
    expect((await listAuditEvents(id)).map(({ action }) => action)).toEqual(['approval.requested', 'approval.canceled']);
  });

  test('is not usable after the customer withdraws the permission to place orders', async () => {
    const { anna, app, decide } = await connect();
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    await decide(id, 'approval');
    const changeLimits = await prepareLimitChange(anna, app);
    await changeLimits('PUT', { actions: ['pay'] });
    expect((await app.orderFromQuote(quoteId)).body.code).toBe('forbidden');
    await changeLimits('PUT', { actions: ['place'], ...limitsOf50PerOrder });
    expect((await app.orderFromQuote(quoteId)).status).toBe(201);
  });

  test('does not count toward a budget that the customer set between the order and its payment', async () => {
    const { anna, app, decide } = await connect({ ...limitsOf50PerOrder, orders: 'all' });
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    await decide(id, 'approval');
    const changeLimits = await prepareLimitChange(anna, app);
    await changeLimits('DELETE');
    const order = await app.orderFromQuote(quoteId);
    expect(order.status).toBe(201);
    await changeLimits('PUT', limitsOf50PerOrder);
    expect((await app.post(`/orders/${order.body.id}/payments`, { provider: 'manual' })).status).toBe(201);
    expect(await app.readBudget()).toMatchObject({ spent: 0 });
  });

  test('is canceled when an order is placed from the quote without it', async () => {
    const { app } = await connect();
    const quote = await app.createQuote(4000);
    const { body } = await app.requestApproval(quote.id);
    expect(body.reason).toBeNull();
    expect((await app.orderFromQuote(quote.id)).status).toBe(201);
    expect((await app.call('GET', `/approvals/${body.id}`)).body.status).toBe('canceled');
    expect(await app.readBudget()).toMatchObject({ spent: 4000 });
  });
});

describe('GET /approvals/all', () => {
  const manager = shop.staff(['orders.manage', 'orders.read']);
  const listAll = async (query = ''): Promise<JsonBody[]> => (await manager.callApi('GET', `/api/v1/approvals/all${query}`)).body.data;
  const idsOf = (approvals: readonly JsonBody[]): number[] => approvals.map(({ id }) => id);

  test('staff see the approvals of every customer, with filters, and GET /approvals returns only their own', async () => {
    const [one, other] = [await connect(), await connect()];
    const waiting = await requestApprovalOf60(one.app);
    const declined = await requestApprovalOf60(other.app);
    expect((await other.decide(declined.id, 'decline')).status).toBe(201);
    expect(idsOf(await listAll('?limit=2'))).toEqual([declined.id, waiting.id]);
    const pending = await listAll('?status=pending');
    expect(idsOf(pending)).toContain(waiting.id);
    expect(idsOf(pending)).not.toContain(declined.id);
    expect(await listAll(`?status=pending,approved&user_id=${one.anna.id}`)).toEqual([
      expect.objectContaining({
        id: waiting.id,
        user_id: one.anna.id,
        application_name: 'Test application',
        total: 6000,
        status: 'pending',
      }),
    ]);
    expect(await listAll(`?status=pending&user_id=${other.anna.id}`)).toEqual([]);
    expect((await manager.callApi('GET', '/api/v1/approvals')).body.data).toEqual([]);
    expect((await manager.callApi('GET', `/api/v1/approvals/${waiting.id}`)).status).toBe(404);
  });

  test('an application that can access only its own orders sees only the approvals that it requested', async () => {
    const client = await createWebApplication(shop.db, ['orders.manage']);
    const tokens = await obtainLimitedTokensOfApplication(shop.origin, manager, client, ['orders.manage'], { orders: 'own' });
    await requestApprovalOf60((await connect()).app);
    const { status, body } = await shop.callApi('GET', '/api/v1/approvals/all', { token: tokens.access_token });
    expect([status, body.data]).toEqual([200, []]);
  });
});
