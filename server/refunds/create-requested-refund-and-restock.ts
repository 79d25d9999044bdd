import { LockMode } from '@mikro-orm/core';
import type { LineQuantity, RefundCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { formatPrincipalKey, type Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { lockAccessibleOrder } from '../orders/lock-accessible-order.ts';
import { Payment } from '../payments/payment.entity.ts';
import {
  readShippedPackedAndRestockedQuantities,
  assertLineQuantitiesAvailable,
  addUpQuantitiesPerLine,
} from '../shipments/read-and-check-order-line-quantities.ts';
import { updateFulfillmentAndOrderStatus } from '../shipments/update-fulfillment-and-order-status.ts';
import { createPendingRefundAndRestock, calculateRefundableAmount } from './create-pending-refund-and-restock.ts';
import type { Refund } from './refund.entity.ts';

/** Creates a refund that staff requested, and puts the listed goods back into stock. */
export async function createRequestedRefundAndRestock(
  em: EntityManager,
  principal: Principal,
  orderId: number,
  input: RefundCreate,
  now: Date,
): Promise<Refund> {
  const order = await lockAccessibleOrder(em, principal, orderId, 'refunds.write');
  const payment = await em.findOne(
    Payment,
    { order, status: 'succeeded', surplus: false },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (!payment)
    throw createProblem('invalid_transition', {
      detail: translatable`The order is ${{ status: order.status }}, so there is no payment to refund.`,
    });
  const refundable = await calculateRefundableAmount(em, payment);
  const amount = input.amount ?? refundable;
  if (amount > refundable || refundable === 0) throw exceedsPayment(refundable, payment.currency);
  const restock = addUpQuantitiesPerLine(input.restock);
  await assertRestockable(em, orderId, restock);
  const refund = await createPendingRefundAndRestock(
    em,
    order,
    payment,
    { ...input, amount, restock, actor: formatPrincipalKey(principal) },
    now,
  );
  if (restock.length > 0) await updateFulfillmentAndOrderStatus(em, order, now);
  return refund;
}

function exceedsPayment(refundable: number, currency: string) {
  const detail = translatable`Up to ${{ amount: { amount: refundable, currency } }} (${{ minorUnits: refundable }} in minor units) can be refunded.`;
  return createProblem('refund_exceeds_payment', { detail, errors: [{ in: 'body', pointer: '#/amount', code: 'out_of_range', detail }] });
}

/** Rejects units that have already been restocked, and units that are packed in a shipment that has not been shipped yet. */
async function assertRestockable(em: EntityManager, orderId: number, restock: readonly LineQuantity[]): Promise<void> {
  if (restock.length === 0) return;
  const lines = await readShippedPackedAndRestockedQuantities(em, orderId);
  assertLineQuantitiesAvailable(
    'restock',
    restock,
    new Map(lines.map((line) => [line.line, line.quantity - line.restocked - line.packed])),
  );
}
