import type { QuoteLimits } from '@mandate/contract';
import type { LimitCheck } from '../orders/call-place-order.sql.ts';

/** Converts the result of a limit check into the `limits` of a quote. */
export function quoteLimitsFromLimitCheck(check: LimitCheck, total: number): QuoteLimits {
  const { limit, currency, per_order: perOrder } = check;
  // A revoked grant is not reported as an exceeded limit, because tokens of this grant are no longer valid.
  return { exceeded: limit === 'revoked' ? null : limit, currency, per_order: perOrder, budget: budgetFromLimitCheck(check, total) };
}

function budgetFromLimitCheck(check: LimitCheck, total: number): QuoteLimits['budget'] {
  const { limit, per_period: perPeriod, period, spent, period_ends_at: endsAt } = check;
  if (perPeriod === null || period === null || endsAt === null) return null;
  const remaining = Math.max(0, perPeriod - (spent ?? 0));
  const isPossible = limit !== 'currency' && total <= remaining;
  return {
    period,
    limit: perPeriod,
    remaining,
    remaining_after_order: isPossible ? remaining - total : null,
    ends_at: new Date(endsAt).toISOString(),
  };
}
