import { Approval } from '../approvals/approval-and-second-factor-amount.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../database/queries/insert-if-absent.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { assertOrderActionAllowed } from '../order-limits/assert-order-action-allowed.ts';
import { BudgetedOrder } from '../order-limits/order-limits-and-budgeted-order.entity.ts';
import { createLimitExceededProblem, createRevokedAuthorizationProblem } from '../order-limits/order-limit-problems.ts';
import { findUserSetOrderLimits } from '../order-limits/save-find-and-delete-order-limits.ts';
import {
  queryLimitExceededByOrder,
  queryIsGrantOrApiKeyActive,
  lockOrderLimitsOfGrantIfAny,
} from '../order-limits/call-order-limit-and-grant-sql-functions.ts';
import { OrderItem, type Order } from '../orders/order-and-order-item.entity.ts';

/**
 * Rejects a payment that exceeds a limit set by the customer or an administrator. If another application placed the order, counts the order
 * toward the budget. The caller must have locked the order.
 * @throws {Problem} `forbidden`, `limit_exceeded`, or `revoked_token` if access was revoked while this request waited for the lock
 */
export async function enforceLimitsAndCountPaymentTowardBudget(
  em: EntityManager,
  principal: Principal,
  order: Order,
  now: Date,
): Promise<void> {
  const { grantId, clientId } = principal;
  assertOrderActionAllowed(principal, 'pay', now);
  if (grantId === undefined) return;
  // The lock makes concurrent orders and payments under the same grant wait. The limits and the budget are read in later queries, so that
  // the results include everything that was committed while this request waited for the lock.
  if (!(await lockOrderLimitsOfGrantIfAny(em, grantId, clientId))) {
    if (principal.orderAuthorization && !(await queryIsGrantOrApiKeyActive(em, grantId))) throw createRevokedAuthorizationProblem();
    return;
  }
  const limits = await findUserSetOrderLimits(em, grantId);
  if (limits) {
    const { actions, validUntil = null, ownOrdersOnly } = limits;
    assertOrderActionAllowed({ ...principal, orderAuthorization: { actions, validUntil, ownOrdersOnly } }, 'pay', now);
  }
  const isCounted = (await em.count(BudgetedOrder, { grantId, orderId: order.id })) > 0;
  // The customer approved the exact total of this order, so only the limits that administrators set apply.
  const isApproved = (await em.count(Approval, { order: order.id, grantId })) > 0;
  const { total, currency } = order;
  const items = await em.find(OrderItem, { order: order.id }, { fields: ['product'], disableIdentityMap: true });
  const productIds = items.map(({ product }) => product.id);
  const amounts = { productIds, currency, total, added: isCounted ? 0 : total };
  const exceeded = await queryLimitExceededByOrder(em, grantId, clientId, amounts, { isApproved, now });
  if (exceeded) throw createLimitExceededProblem(exceeded, total, currency, '#');
  if (!isCounted) await insertIfAbsent(em, BudgetedOrder, { grantId, orderId: order.id, countedAt: now, approved: isApproved });
}
