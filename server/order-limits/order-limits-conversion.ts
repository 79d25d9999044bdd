import {
  orderActions,
  orderAuthorizationDetailsType,
  type Budget,
  type EffectiveOrderLimits,
  type OrderAuthorizationDetails,
} from '@mandate/contract';
import type { OrderLimitsRow } from './order-limits-and-budgeted-order.entity.ts';

/** Returns the authorization details (RFC 9396) that describe the limits. */
export const authorizationDetailsFromOrderLimits = (row: OrderLimitsRow): OrderAuthorizationDetails => ({
  type: orderAuthorizationDetailsType,
  actions: orderActions.filter((action) => row.actions.includes(action)),
  ...(row.currency != null && {
    limits: {
      currency: row.currency,
      ...(row.perOrder != null && { per_order: row.perOrder }),
      ...(row.perPeriod != null && row.period != null && { per_period: row.perPeriod, period: row.period }),
    },
  }),
  ...(row.validUntil != null && { valid_until: row.validUntil.toISOString() }),
  orders: row.ownOrdersOnly ? 'own' : 'all',
  approval: row.approval,
});

/** Returns how much of the budget has been used in the current period, or null if there is no limit per period. */
export function budgetFromOrderLimits(row: OrderLimitsRow): Budget | null {
  const { currency, period, perPeriod, spent, periodStartsAt, periodEndsAt, timeZone } = row;
  if (currency == null || period == null || perPeriod == null || !periodStartsAt || !periodEndsAt) return null;
  return {
    currency,
    period,
    limit: perPeriod,
    spent,
    remaining: Math.max(0, perPeriod - spent),
    starts_at: periodStartsAt.toISOString(),
    ends_at: periodEndsAt.toISOString(),
    time_zone: timeZone,
  };
}

/** Returns the columns that store the limits. */
export const orderLimitsColumnsFromInput = ({ actions, limits, valid_until: validUntil, orders, approval }: EffectiveOrderLimits) => ({
  actions: [...actions],
  currency: limits?.currency ?? null,
  perOrder: limits?.per_order ?? null,
  perPeriod: limits?.per_period ?? null,
  period: limits?.period ?? null,
  validUntil: validUntil === undefined ? null : new Date(validUntil),
  ownOrdersOnly: orders === 'own',
  approval,
});
