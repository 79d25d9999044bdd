import type { ApprovalReason } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { queryLimitExceededByOrder } from '../order-limits/call-order-limit-and-grant-sql-functions.ts';
import { createLimitExceededProblem } from '../order-limits/order-limit-problems.ts';
import type { QuoteEntity } from '../quotes/quote-and-quote-reservation.entity.ts';
import type { OrderLimitsRow } from '../order-limits/order-limits-and-budgeted-order.entity.ts';

type Grant = {
  readonly grantId: string;
  readonly clientId: string;
  /** The current limits that the customer set. */
  readonly limits: OrderLimitsRow | null;
};

/**
 * Returns why an order needs the customer's approval, or null if the order is within all limits.
 * @throws {Problem} `limit_exceeded` if the order exceeds a limit set by an administrator, which the customer's approval cannot override
 */
export async function determineApprovalReason(
  em: EntityManager,
  { grantId, clientId, limits }: Grant,
  { total, currency, items }: Pick<QuoteEntity, 'total' | 'currency' | 'items'>,
  now: Date,
): Promise<ApprovalReason | null> {
  const productIds = items.map(({ product_id: id }) => id);
  const amounts = { productIds, currency, total, added: total };
  const aboveCeiling = await queryLimitExceededByOrder(em, grantId, clientId, amounts, { isApproved: true, now });
  if (aboveCeiling) throw createLimitExceededProblem({ ...aboveCeiling, approvable: false }, total, currency, '#/quote_id');
  const reason = { currency: limits?.currency ?? null, limit: null, spent: null, period: null, categories: null };
  if (limits?.approval === 'always') return { ...reason, code: 'every_order' };
  const exceeded = await queryLimitExceededByOrder(em, grantId, clientId, amounts, { isApproved: false, now });
  if (exceeded?.limit === 'categories') {
    const categories = new Set(exceeded.products?.map(({ category }) => category));
    return { ...reason, code: 'categories', categories: [...categories].toSorted() };
  }
  if (exceeded?.limit === 'currency') return { ...reason, code: 'currency' };
  if (exceeded?.limit === 'per_order') return { ...reason, code: 'per_order', limit: exceeded.per_order ?? null };
  if (exceeded?.limit !== 'per_period') return null;
  const { per_period: limit = null, period = null, spent } = exceeded;
  return { ...reason, code: 'per_period', limit, spent: Math.max(0, spent ?? 0), period };
}
