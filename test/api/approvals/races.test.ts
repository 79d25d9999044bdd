import { describe, expect, test } from 'vitest';
import { changeDatabaseFunction } from '../../support/services/change-database-function.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { connectApplicationAndDecider, requestApprovalOf60 } from '../../support/shop/approval-requests.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
const connect = () => connectApplicationAndDecider(shop);

const sortStatuses = (responses: readonly ApiResponse[]): number[] => responses.map(({ status }) => status).toSorted((a, b) => a - b);

describe.skipIf(databaseKind === 'pglite')('concurrent requests', () => {
  /** Sends 16 concurrent orders with the same approval. Returns the statuses of the responses. */
  async function orderAtOnce(): Promise<number[]> {
    const { app, decide } = await connect();
    const { id, quote_id: quoteId } = await requestApprovalOf60(app);
    expect((await decide(id, 'approval')).status).toBe(201);
    const responses = await Promise.all(Array.from({ length: 16 }, () => app.orderFromQuote(quoteId)));
    return sortStatuses(responses);
  }

  test('place exactly one order with one approval', async () => {
    expect(await orderAtOnce()).toEqual([201, ...Array.from({ length: 15 }, () => 409)]);
  });

  test('place more than one order without the locks, which shows that the previous test can fail', async () => {
    const em = shop.db.em.fork();
    const restorePlaceOrder = await changeDatabaseFunction(em, 'mandate_place_order', {
      'from quotes where id = p_quote_id for update': 'from quotes where id = p_quote_id',
      ' for no key update of s': '',
      ' for no key update': '',
      'insert into orders': 'perform pg_sleep(0.05); insert into orders',
    });
    const restoreLock = await changeDatabaseFunction(em, 'mandate_lock_order_limits', { ' for no key update': '' });
    try {
      expect((await orderAtOnce()).filter((status) => status === 201).length).toBeGreaterThan(1);
    } finally {
      await restoreLock();
      await restorePlaceOrder();
    }
  });

  test('use and cancel an approval: exactly one of the two succeeds', async () => {
    const { app, decide } = await connect();
    for (let round = 0; round < 5; round += 1) {
      const { id, quote_id: quoteId } = await requestApprovalOf60(app);
      await decide(id, 'approval');
      const [order, cancellation] = await Promise.all([app.orderFromQuote(quoteId), app.post(`/approvals/${id}/cancellation`)]);
      expect([
        [201, 409],
        [403, 201],
      ]).toContainEqual([order.status, cancellation.status]);
      expect((await app.call('GET', `/approvals/${id}`)).body.status).toBe(order.status === 201 ? 'used' : 'canceled');
    }
  });

  test('approve and decline: exactly one of the two succeeds', async () => {
    const { app, decide } = await connect();
    const { id } = await requestApprovalOf60(app);
    const decisions = await Promise.all([decide(id, 'approval'), decide(id, 'decline'), decide(id, 'approval'), decide(id, 'decline')]);
    expect(sortStatuses(decisions)).toEqual([201, 409, 409, 409]);
  });

  test('request at most five approvals, and one approval of a quote', async () => {
    const { app } = await connect();
    const quote = await app.createQuote(6000);
    const same = await Promise.all(Array.from({ length: 4 }, () => app.requestApproval(quote.id)));
    expect(sortStatuses(same)).toEqual([201, 409, 409, 409]);
    const quotes = await Promise.all(Array.from({ length: 8 }, () => app.createQuote(6000)));
    const different = await Promise.all(quotes.map(({ id }) => app.requestApproval(id)));
    expect(different.filter(({ status }) => status === 201)).toHaveLength(4);
    expect(different.filter(({ body }) => body.code === 'too_many_approvals')).toHaveLength(4);
  });
});
