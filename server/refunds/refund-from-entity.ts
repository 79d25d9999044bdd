import type { Refund as RefundBody } from '@mandate/contract';
import type { Refund } from './refund.entity.ts';

export const refundFromEntity = (refund: Refund): RefundBody => ({
  id: refund.id,
  order_id: refund.order.id,
  payment_id: refund.payment.id,
  status: refund.status,
  amount: refund.amount,
  currency: refund.currency,
  reason: refund.reason,
  note: refund.note ?? null,
  restock: refund.restock,
  failure_code: refund.failureCode ?? null,
  version: refund.version,
  created_at: refund.createdAt.toISOString(),
  updated_at: refund.updatedAt.toISOString(),
});
