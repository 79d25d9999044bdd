import type { LineQuantity, RefundCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { returnOrderItemsToStock } from '../orders/return-order-items-to-stock.ts';
import type { Order } from '../orders/order-and-order-item.entity.ts';
import type { Payment } from '../payments/payment.entity.ts';
import { refundFromEntity } from './refund-from-entity.ts';
import { Refund } from './refund.entity.ts';

type RefundInput = {
  readonly amount: number;
  readonly reason: RefundCreate['reason'];
  readonly note?: string | undefined;
  readonly restock?: LineQuantity[];
  readonly actor: string;
};

/** Returns the amount of a locked payment that can still be refunded. */
export async function calculateRefundableAmount(em: EntityManager, payment: Payment): Promise<number> {
  const open = await em.find(Refund, { payment: payment.id, status: 'pending' }, { disableIdentityMap: true });
  return payment.amount - payment.refundedTotal - open.reduce((sum, { amount }) => sum + amount, 0);
}

/**
 * Creates a pending refund. The caller must have locked the order and the payment, and must have checked the amount. After the transaction,
 * the caller submits the refund to the provider.
 */
export async function createPendingRefundAndRestock(
  em: EntityManager,
  order: Order,
  payment: Payment,
  input: RefundInput,
  now: Date,
): Promise<Refund> {
  const { restock = [], note = null, ...rest } = input;
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
  await recordEvent(em, 'refund.created', refundFromEntity(refund), order.user.id);
  await returnOrderItemsToStock(em, order.id, restock);
  return refund;
}
