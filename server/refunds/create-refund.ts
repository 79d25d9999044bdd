import type { LineQuantity, RefundCreate } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { returnSome } from '../orders/restock.ts';
import type { Order } from '../orders/order.entity.ts';
import type { Payment } from '../payments/payment.entity.ts';
import { refundBody } from './refund-body.ts';
import { Refund } from './refund.entity.ts';

type Wanted = {
  readonly amount: number;
  readonly reason: RefundCreate['reason'];
  readonly note?: string | undefined;
  readonly restock?: LineQuantity[];
  readonly actor: string;
};

const openRefunds = statement<{ amount: number }>(
  'open_refunds',
  `select coalesce(sum(amount), 0)::bigint as amount from refunds where payment_id = $1 and status = 'pending'`,
);

/** What can still be paid back of a payment that is locked. */
export async function leftToRefund(em: Em, payment: Payment): Promise<number> {
  const [open] = await openRefunds(em, [payment.id]);
  return payment.amount - payment.refundedTotal - (open?.amount ?? 0);
}

/** Writes the refund down; order and payment are locked, and the amount is left. The provider is asked after the transaction. */
export async function createRefund(em: Em, order: Order, payment: Payment, wanted: Wanted, now: Date): Promise<Refund> {
  const { restock = [], note = null, ...rest } = wanted;
  const refund = em.create(Refund, {
    ...rest,
    status: 'pending',
    order,
    payment,
    note,
    restock,
    currency: payment.currency,
    nextCheckAt: now,
  });
  await em.flush();
  await recordEvent(em, 'refund.created', refundBody(refund), order.user.id);
  await returnSome(em, order.id, restock);
  return refund;
}
