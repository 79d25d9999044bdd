import { LockMode } from '@mikro-orm/core';
import { Approval } from '../approvals/approval.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../database/queries/insert-if-absent.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { assertOrderActionAllowed } from '../order-limits/assert-order-action-allowed.ts';
import { BudgetedOrder, OrderLimits, type OrderLimitsRow } from '../order-limits/order-limits-and-budgeted-order.entity.ts';
import { orderActions } from '@mandate/contract';
import { createLimitProblem, type ExceededLimit } from '../order-limits/order-limits-problem.ts';
import { findOrderLimits } from '../order-limits/save-find-and-delete-order-limits.ts';
import type { Order } from '../orders/order-and-order-item.entity.ts';

/**
 * Rejects a payment that the customer's limits do not permit. If another application placed the order, counts the order toward the budget.
 * The caller has locked the order.
 * @throws {Problem} `forbidden` or `limit_exceeded`
 */
export async function enforceLimitsAndCountPaymentTowardBudget(
  em: EntityManager,
  principal: Principal,
  order: Order,
  now: Date,
): Promise<void> {
  const { grantId, orderAuthorization } = principal;
  assertOrderActionAllowed(principal, 'pay', now);
  if (grantId === undefined || !orderAuthorization) return;
  // The lock makes concurrent orders and payments of the grant wait. A second query reads the budget, so that it includes orders and
  // payments that were committed while this request waited for the lock.
  const lock = { fields: ['grantId'], lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  await em.findOne(OrderLimits, { grantId }, lock);
  const limits = await findOrderLimits(em, grantId);
  if (!limits) return; // the customer has removed the limits
  const actions = orderActions.filter((action) => limits.actions.includes(action));
  const current = { ...orderAuthorization, actions, validUntil: limits.validUntil ?? null };
  assertOrderActionAllowed({ ...principal, orderAuthorization: current }, 'pay', now);
  // The customer approved the exact total of this order, which does not count toward the budget.
  if ((await em.count(Approval, { order: order.id, grantId })) > 0) return;
  const isCounted = (await em.count(BudgetedOrder, { grantId, orderId: order.id })) > 0;
  const exceeded = findLimitExceededByPayment(limits, order, isCounted);
  if (exceeded) throw createLimitProblem(exceeded, order.total, order.currency, '#');
  if (!isCounted) await insertIfAbsent(em, BudgetedOrder, { grantId, orderId: order.id, countedAt: now });
}

function findLimitExceededByPayment(
  limits: OrderLimitsRow,
  { total, currency }: Pick<Order, 'total' | 'currency'>,
  isCounted: boolean,
): ExceededLimit | undefined {
  const { perOrder, perPeriod, spent } = limits;
  const used = spent + (isCounted ? 0 : total);
  const fields = {
    currency: limits.currency ?? null,
    per_order: perOrder ?? null,
    per_period: perPeriod ?? null,
    period: limits.period ?? null,
    spent,
    valid_until: limits.validUntil?.toISOString() ?? null,
    period_ends_at: limits.periodEndsAt?.toISOString() ?? null,
  };
  if (limits.currency != null && limits.currency !== currency) return { ...fields, limit: 'currency' };
  if (perOrder != null && total > perOrder) return { ...fields, limit: 'per_order' };
  return perPeriod != null && used > perPeriod ? { ...fields, limit: 'per_period' } : undefined;
}
