import {
  orderActionsInAuthorizationDetails,
  type Budget,
  type OrderAuthorizationDetails,
  type OrderSpendingLimits,
} from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { intersectCategories } from './product-categories-of-limits.ts';
import { authorizationDetailsFromOrderLimits } from './order-limits-conversion.ts';
import { findUserSetOrderLimits } from './save-find-and-delete-order-limits.ts';
import { querySpendingLimitsAndSpentAmounts, type SpendingLimit } from './call-order-limit-and-grant-sql-functions.ts';

export type EffectiveLimits = {
  /** The application's permissions and limits for the user's orders. */
  readonly details: OrderAuthorizationDetails;
  /** The limits that the user set; null if only administrators set limits. */
  readonly setByUser: OrderAuthorizationDetails | null;
  /** The budget with the smallest remaining amount. */
  readonly budget: Budget | null;
  /** Every budget that applies. */
  readonly budgets: readonly Budget[];
};

/**
 * Returns the limits that apply to a grant. The limits that administrators set tighten the limits that the user set. Returns null if no
 * limit applies to the grant.
 */
export async function findEffectiveOrderLimits(em: EntityManager, grantId: string, clientId: string): Promise<EffectiveLimits | null> {
  const stored = await findUserSetOrderLimits(em, grantId);
  const limits = await querySpendingLimitsAndSpentAmounts(em, grantId, clientId);
  if (!stored && limits.length === 0) return null;
  const setByUser = stored && authorizationDetailsFromOrderLimits(stored);
  const conditions = setByUser ?? authorizationDetailsFromOrderLimits(unrestricted);
  const { type, actions, limits: _stored, products: _products, ...others } = conditions;
  const { details, budget } = combineSpendingLimits(limits);
  const categories = intersectCategories(limits.map((limit) => limit.categories ?? undefined));
  return {
    details: { type, actions, ...(details && { limits: details }), ...(categories && { products: { categories } }), ...others },
    setByUser,
    budget,
    budgets: limits.flatMap((limit) => budgetFromSpendingLimit(limit) ?? []),
  };
}

const unrestricted = { actions: [...orderActionsInAuthorizationDetails], ownOrdersOnly: false, approval: 'above_limit' as const };

/**
 * Combines limits into the lowest amount per order and the budget with the smallest remaining amount. All limits apply, but authorization
 * details can contain only one budget.
 */
function combineSpendingLimits(limits: readonly SpendingLimit[]): {
  readonly details: OrderSpendingLimits | undefined;
  readonly budget: Budget | null;
} {
  const currency = limits.find((limit) => limit.currency !== null)?.currency ?? null;
  if (currency === null) return { details: undefined, budget: null };
  const comparable = limits.filter((limit) => limit.currency === currency);
  const perOrder = comparable.flatMap(({ per_order: amount }) => amount ?? []);
  const budgets = comparable.flatMap((limit) => budgetFromSpendingLimit(limit) ?? []);
  const [budget = null] = budgets.toSorted((a, b) => a.remaining - b.remaining || a.limit - b.limit);
  const details = {
    currency,
    ...(perOrder.length > 0 && { per_order: Math.min(...perOrder) }),
    ...(budget && { per_period: budget.limit, period: budget.period }),
  };
  return { details, budget };
}

function budgetFromSpendingLimit(limit: SpendingLimit): Budget | undefined {
  const { currency, period, per_period: perPeriod, period_starts_at: start, period_ends_at: end, time_zone: timeZone } = limit;
  if (currency === null || period === null || perPeriod === null || start === null || end === null) return undefined;
  const spent = limit.spent ?? 0;
  return {
    currency,
    period,
    limit: perPeriod,
    spent,
    remaining: Math.max(0, perPeriod - spent),
    starts_at: new Date(start).toISOString(),
    ends_at: new Date(end).toISOString(),
    time_zone: timeZone,
    set_by: limit.set_by,
  };
}
