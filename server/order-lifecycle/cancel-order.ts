import { LockMode } from '@mikro-orm/core';
import type { Order as OrderBody, OrderCancellation } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { may } from '../http/middleware/authorize.ts';
import { actorOf, type Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { Payment } from '../payments/payment.entity.ts';
import { createRefund, leftToRefund } from '../refunds/create-refund.ts';
import { orderBody } from '../orders/find-order.ts';
import type { Order } from '../orders/order.entity.ts';
import { returnAll } from '../orders/restock.ts';
import { lockOrder } from '../orders/lock-order.ts';

type CancellationResult = { readonly order: OrderBody; readonly refundId: number | undefined };

const findUnfinishedPart = statement<{ what: string }>(
  'under_way',
  `select 'payment' as what from payments where order_id = $1 and status in ('pending', 'requires_action', 'processing')
   union all select 'shipment' from shipments where order_id = $1 and status = 'pending'`,
);

/**
 * Cancels an order, returns its goods to stock and creates a refund of what was paid; the provider is called after the transaction. The
 * caller has canceled an open payment at its provider before, so that customers cannot pay for released goods.
 */
export async function cancelOrder(
  em: Em,
  principal: Principal,
  id: number,
  input: OrderCancellation,
  now: Date,
): Promise<CancellationResult> {
  const order = await lockOrder(em, principal, id);
  const own = order.user.id === principal.user?.id;
  const { reason = own ? 'customer' : 'staff', note } = input;
  if (reason !== 'customer' && !may(principal, 'orders.manage'))
    throw problem('forbidden', { detail: 'Another reason than `customer` requires the `orders.manage` scope and a staff account.' });
  order.cancel(reason, now);
  const [unfinished] = await findUnfinishedPart(em, [id]);
  if (unfinished) throw problem('invalid_transition', { detail: `A ${unfinished.what} of the order is under way.` });
  if (note !== undefined) order.note = note;
  await em.flush();
  const refundId = await createFullRefund(em, order, actorOf(principal), now);
  await returnAll(em, [id]);
  const body = await orderBody(em, id);
  await recordEvent(em, 'order.canceled', body, order.user.id);
  return { order: body, refundId };
}

async function createFullRefund(em: Em, order: Order, actor: string, now: Date): Promise<number | undefined> {
  const where = { order, status: 'succeeded', surplus: false } as const;
  const payment = await em.findOne(Payment, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  const amount = payment ? await leftToRefund(em, payment) : 0;
  if (!payment || amount === 0) return undefined;
  return (await createRefund(em, order, payment, { amount, reason: 'order_canceled', actor }, now)).id;
}
