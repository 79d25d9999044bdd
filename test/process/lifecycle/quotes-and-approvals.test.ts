import { afterEach, describe, expect, test } from 'vitest';
import { obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { databaseKind } from '../../support/services/database.ts';
import { countStatus, detectsFault, readId, repeat, useOrderLimitServers, type ParsedResponse } from './order-limit-servers.ts';

describe.skipIf(databaseKind === 'pglite')('quotes and approvals on two processes', { timeout: 120_000 }, () => {
  const shop = useOrderLimitServers();
  const { call, perOrder, connect, buildOrder, change, delayOrders, execute } = shop;
  const endedOnce = 'quotes_ended_once';
  afterEach(async () => {
    await execute(`alter table quotes drop constraint if exists ${endedOnce}`);
    const condition = 'num_nonnulls(order_id, canceled_at, expiration_reported_at) <= 1';
    await execute(`alter table quotes add constraint ${endedOnce} check (${condition}) not valid`);
  });

  /** Removes the quote lock and the constraint, so that concurrent requests can place several orders from one quote. */
  async function removeQuoteLock(): Promise<void> {
    await delayOrders();
    await change('mandate_place_order', {
      'from quotes where id = p_quote_id for update': 'from quotes where id = p_quote_id',
      ' for no key update of s': '',
      ' for no key update': '',
    });
    await change('mandate_lock_order_limits', { ' for no key update': '' });
    await execute(`alter table quotes drop constraint ${endedOnce}`);
  }

  /** Connects an application with a limit of 50 per order, and creates a quote for an order worth 60. */
  async function createQuote() {
    const app = await connect(perOrder(50), { isThirdParty: true });
    const id = readId(await call(app.token, 'POST', '/quotes', buildOrder(6)));
    const { access_token: decider } = await obtainTokens(shop.servers.origin, app.user, ['approvals.decide', 'orders.read']);
    return {
      countOrders: app.countOrders,
      convert: (token = app.token): Promise<ParsedResponse> => call(token, 'POST', '/orders', { quote_id: id }),
      requestApproval: async (): Promise<number> => readId(await call(app.token, 'POST', '/approvals', { quote_id: id })),
      decide: (approvalId: number, decision: 'approval' | 'decline') => call(decider, 'POST', `/approvals/${approvalId}/${decision}`),
      readApproval: (approvalId: number) => call(decider, 'GET', `/approvals/${approvalId}`),
    };
  }

  /** Sends 64 concurrent requests to convert the same quote. Returns the number of orders that were placed. */
  async function convertAtOnce(): Promise<number> {
    const app = await connect(undefined);
    const id = readId(await call(app.token, 'POST', '/quotes', buildOrder()));
    const responses = await repeat(64, () => call(app.token, 'POST', '/orders', { quote_id: id }));
    expect(responses.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(await app.countOrders()).toBe(countStatus(responses, 201));
    return countStatus(responses, 201);
  }

  test('64 conversions of one quote place exactly one order', async () => {
    await delayOrders();
    expect(await convertAtOnce()).toBe(1);
  });

  test('the test of conversions detects a missing lock', async () => {
    await removeQuoteLock();
    expect(await detectsFault(async () => (await convertAtOnce()) > 1)).toBe(true);
  });

  /** Sends 16 concurrent orders with the same approval. Returns the number of orders that were placed. */
  async function orderWithApprovalAtOnce(): Promise<number> {
    const quote = await createQuote();
    expect((await quote.convert()).status).toBe(403);
    expect((await quote.decide(await quote.requestApproval(), 'approval')).status).toBe(201);
    const responses = await repeat(16, () => quote.convert());
    expect(responses.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(await quote.countOrders()).toBe(countStatus(responses, 201));
    return countStatus(responses, 201);
  }

  test('16 orders with one approval place exactly one order', async () => {
    await delayOrders();
    expect(await orderWithApprovalAtOnce()).toBe(1);
  });

  test('the test of approvals detects a missing lock', async () => {
    await removeQuoteLock();
    expect(await detectsFault(async () => (await orderWithApprovalAtOnce()) > 1)).toBe(true);
  });

  test('a concurrent approval and decline have only one outcome', async () => {
    for (let round = 0; round < 5; round += 1) {
      const quote = await createQuote();
      const id = await quote.requestApproval();
      const decisions = (['approval', 'decline'] as const).flatMap((decision) => Array.from({ length: 8 }, () => decision));
      const responses = await repeat(16, async (index) => ({ ...(await quote.decide(id, decisions[index] ?? 'decline')), index }));
      const [winner] = responses.filter(({ status }) => status === 201);
      expect([countStatus(responses, 201), countStatus(responses, 409)]).toEqual([1, 15]);
      const isApproved = decisions[winner?.index ?? -1] === 'approval';
      expect((await quote.readApproval(id)).body).toMatchObject({ status: isApproved ? 'approved' : 'declined' });
      expect((await execute('select action from audit_events where subject = ?', [`approval:${id}`])).length).toBe(2);
      expect((await quote.convert()).status).toBe(isApproved ? 201 : 403);
    }
  });
});
