import type { ApprovalReason } from '@mandate/contract';
import type { OrderLimitsRow } from '../order-limits/order-limits-and-budgeted-order.entity.ts';

/**
 * Returns why an order needs the customer's approval, or null if the order is within all limits.
 * @param limits the current limits of the grant
 */
export function findApprovalReason(
  limits: OrderLimitsRow | null,
  { total, currency }: { readonly total: number; readonly currency: string },
): ApprovalReason | null {
  if (!limits) return null;
  const { perOrder = null, perPeriod = null, period = null, spent } = limits;
  const reason = { currency: limits.currency ?? null, limit: null, spent: null, period: null };
  if (limits.approval === 'always') return { ...reason, code: 'every_order' };
  if (limits.currency != null && limits.currency !== currency) return { ...reason, code: 'currency' };
  if (perOrder !== null && total > perOrder) return { ...reason, code: 'per_order', limit: perOrder };
  if (perPeriod === null || spent + total <= perPeriod) return null;
  return { ...reason, code: 'per_period', limit: perPeriod, spent: Math.max(0, spent), period };
}
