import type { OrderSpendingLimits } from '@mandate/contract';
import { translatable, type TranslatableText } from '../http/problem-details/translatable-text.ts';

/** A requested limit that a ceiling does not permit, and a sentence fragment that states what is permitted. */
export type LimitAboveCeiling = { readonly field: keyof OrderSpendingLimits; readonly reason: TranslatableText };

/**
 * Returns the first requested limit that is above the ceiling, or undefined. An absent limit is not above the ceiling, because the ceiling
 * applies instead.
 */
export function findLimitAboveCeiling(ceiling: OrderSpendingLimits, requested: OrderSpendingLimits): LimitAboveCeiling | undefined {
  const { currency, per_order: perOrder, per_period: perPeriod, period } = ceiling;
  if (requested.currency !== currency) return { field: 'currency', reason: translatable`only orders in ${{ currency }} are permitted` };
  if (perOrder !== undefined && (requested.per_order ?? 0) > perOrder) {
    return { field: 'per_order', reason: translatable`at most ${{ amount: { amount: perOrder, currency } }} per order is permitted` };
  }
  if (perPeriod === undefined || requested.per_period === undefined) return undefined;
  if (requested.period !== period) return { field: 'period', reason: translatable`the period must be one ${{ period: period ?? '' }}` };
  return requested.per_period > perPeriod
    ? {
        field: 'per_period',
        reason: translatable`at most ${{ amount: { amount: perPeriod, currency } }} per ${{ period: period ?? '' }} is permitted`,
      }
    : undefined;
}

/**
 * Returns the limits, after replacing all absent or higher values with those of the ceiling. A budget for a different period remains
 * unchanged.
 */
export function tightenLimitsToCeiling(ceiling: OrderSpendingLimits, limits: OrderSpendingLimits | undefined): OrderSpendingLimits {
  if (limits && limits.currency !== ceiling.currency) return limits;
  const perOrder = lowest(limits?.per_order, ceiling.per_order);
  const { period = ceiling.period } = limits ?? {};
  const perPeriod = period === ceiling.period ? lowest(limits?.per_period, ceiling.per_period) : limits?.per_period;
  return {
    currency: ceiling.currency,
    ...(perOrder !== undefined && { per_order: perOrder }),
    ...(perPeriod !== undefined && period !== undefined && { per_period: perPeriod, period }),
  };
}

const lowest = (...amounts: readonly (number | undefined)[]): number | undefined => {
  const given = amounts.flatMap((amount) => amount ?? []);
  return given.length === 0 ? undefined : Math.min(...given);
};
