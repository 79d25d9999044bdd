import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pollPendingPayments } from '../../../server/order-lifecycle/poll-pending-payments.ts';
import { applyProviderEvents } from '../../../server/order-lifecycle/provider-events.ts';
import { eventsOf } from '../../support/events.ts';
import { later, openTill, soon, type Till } from '../../support/order-arithmetic.ts';
import { needsOneProcess } from '../../support/server/process-mode.ts';

let till: Till;
beforeAll(async () => {
  till = await openTill();
});
afterAll(() => till.mandate.close());

const em = () => till.mandate.db.em.fork();
const paymentEvents = (id: number): Promise<string[]> => eventsOf(till.mandate.db, 'payment', id);
const orderEvents = (id: number): Promise<string[]> => eventsOf(till.mandate.db, 'order', id);

describe('what providers report', () => {
  needsOneProcess('the test provider signs its reports with a key of its own process');
  const send = (body: string, headers: Record<string, string>, provider = 'test') =>
    till.mandate.call('POST', `/api/v1/provider-events/${provider}`, { body, headers });
  const apply = (): Promise<number> => applyProviderEvents(em(), till.providers, soon());

  test.each(['test_duplicate_webhook', 'test_out_of_order_webhook'])('%s: the payment succeeds once', async (method) => {
    const order = await till.order();
    const { body } = await till.pay(order.id, method);
    expect(body.status).toBe('processing');
    const answers = [];
    for (const report of till.provider.webhooksFor(body.provider_reference)) answers.push(await send(report.body, report.headers));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map((answer) => answer.body.received)).toEqual(method === 'test_duplicate_webhook' ? [1, 0] : [1, 1]);
    expect((await till.get(`/payments/${body.id}`)).status).toBe('processing');
    expect(await apply()).toBe(method === 'test_duplicate_webhook' ? 1 : 2);
    expect(await paymentEvents(body.id)).toEqual(['payment.created', 'payment.succeeded']);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.paid']);
    expect(await apply()).toBe(0);
  });

  test('a success after the order was canceled is paid back in full, and the goods stay with the shop', async () => {
    const order = await till.order({ stock: 2 });
    const { body } = await till.pay(order.id, 'test_late_success');
    expect((await till.post(`/orders/${order.id}/cancellation`, {})).body.status).toBe('canceled');
    for (const report of till.provider.webhooksFor((await till.get(`/payments/${body.id}`)).provider_reference))
      await send(report.body, report.headers);
    expect(await apply()).toBe(1);
    expect(await till.get(`/payments/${body.id}`)).toMatchObject({ status: 'succeeded', refunded_total: order.total });
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({
      status: 'canceled',
      payment_status: 'refunded',
      refunded_total: order.total,
    });
    expect(await paymentEvents(body.id)).toEqual(['payment.created', 'payment.canceled', 'payment.succeeded']);
    expect(await orderEvents(order.id)).toEqual(['order.created', 'order.canceled', 'order.refunded']);
    expect(await till.stock(order.items[0].product_id)).toBe(2);
  });

  test('a success of an earlier attempt, when another one has paid already, is paid back and does not count', async () => {
    const order = await till.order();
    const { body } = await till.pay(order.id, 'test_late_success');
    const reference = (await till.get(`/payments/${body.id}`)).provider_reference;
    await till.post(`/payments/${body.id}/cancellation`);
    await till.pay(order.id);
    for (const report of till.provider.webhooksFor(reference)) await send(report.body, report.headers);
    expect(await apply()).toBe(1);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'paid', payment_status: 'paid', refunded_total: 0 });
    expect((await till.get(`/orders/${order.id}/refunds`)).data).toMatchObject([
      { payment_id: body.id, status: 'succeeded', reason: 'duplicate', amount: order.total },
    ]);
  });

  test('a success of a given up attempt pays an order that still waits, and the open attempt is canceled', async () => {
    const order = await till.order();
    const { body: first } = await till.pay(order.id, 'test_late_success');
    const reference = (await till.get(`/payments/${first.id}`)).provider_reference;
    await till.post(`/payments/${first.id}/cancellation`);
    const { body: second } = await till.pay(order.id, 'test_requires_action');
    for (const report of till.provider.webhooksFor(reference)) await send(report.body, report.headers);
    await apply();
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
    await pollPendingPayments(em(), till.providers, soon());
    expect((await till.get(`/payments/${second.id}`)).status).toBe('canceled');
  });

  test('unsigned, tampered with, or for nobody, is refused', async () => {
    const order = await till.order();
    const { body } = await till.pay(order.id, 'test_duplicate_webhook');
    const [report] = till.provider.webhooksFor(body.provider_reference);
    if (!report) throw new Error('no report');
    expect((await send(report.body, { 'content-type': 'application/json' })).body.code).toBe('invalid_signature');
    expect((await send(report.body.replace('succeeded', 'failed'), report.headers)).body.code).toBe('invalid_signature');
    expect((await send(report.body, report.headers, 'manual')).status).toBe(404);
    expect((await send(report.body, report.headers, 'nobody')).status).toBe(404);
    const stored = await em().execute('select count(*)::int as count from provider_events where reference = ?', [body.provider_reference]);
    expect(stored).toEqual([{ count: 0 }]);
  });

  test('about what nobody knows is kept, and looked at again', async () => {
    const order = await till.order();
    const { body } = await till.pay(order.id, 'test_duplicate_webhook');
    const [report] = till.provider.webhooksFor(body.provider_reference);
    if (!report) throw new Error('no report');
    await em().execute('update payments set provider_reference = null where id = ?', [body.id]);
    expect((await send(report.body, report.headers)).body.received).toBe(1);
    expect(await apply()).toBe(0);
    await em().execute('update payments set provider_reference = ? where id = ?', [body.provider_reference, body.id]);
    expect(await applyProviderEvents(em(), till.providers, later())).toBe(1);
    expect((await till.get(`/payments/${body.id}`)).status).toBe('succeeded');
  });
});
