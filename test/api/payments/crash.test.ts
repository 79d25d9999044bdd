import { describe, expect, test } from 'vitest';
import { submitPollOrCancelDuePayments } from '../../../server/order-lifecycle/submit-poll-or-cancel-due-payments.ts';
import { submitOrPollDueRefunds } from '../../../server/refunds/submit-or-poll-due-refunds.ts';
import { withPaymentTestShop, inOneMinute } from '../../support/shop/payment-test-shop.ts';

const till = withPaymentTestShop();

const em = () => till.mandate.db.em.fork();

describe('after a crash', () => {
  test('between storing a payment and calling the provider, a job completes the payment', async () => {
    const order = await till.placeOrder();
    const { body } = await till.createPayment(order.id, 'test_requires_action');
    await em().execute(
      `update payments set status = 'pending', provider_reference = null, next_action = null, request = '{"methodToken":"test_ok"}' where id = ?`,
      [body.id],
    );
    await submitPollOrCancelDuePayments(em(), till.providers, inOneMinute());
    expect((await till.get(`/orders/${order.id}`)).status).toBe('paid');
  });

  test('between canceling a paid order and refunding it, a job completes the refund', async () => {
    const order = await till.placePaidOrder();
    await till.post(`/orders/${order.id}/cancellation`, {});
    const [refund] = (await till.get(`/orders/${order.id}/refunds`)).data;
    await em().execute(`update refunds set status = 'pending', provider_reference = null, next_check_at = now() where id = ?`, [refund.id]);
    await em().execute(`update payments set refunded_amount = 0 where id = ?`, [refund.payment_id]);
    expect(await submitOrPollDueRefunds(em(), till.providers, inOneMinute())).toBe(1);
    expect(await till.get(`/refunds/${refund.id}`)).toMatchObject({ status: 'succeeded', amount: order.total });
  });
});
