import type { BudgetPeriod } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { ExceededLimit } from './order-limit-problems.ts';

// The SQL functions that this file calls are also called by the statement that places orders.

/** A limit that applies to a grant, and how much of its budget has been used. */
export type SpendingLimit = {
  readonly set_by: NonNullable<ExceededLimit['set_by']>;
  /** Currency of the amounts; null if the limit has no amounts. */
  readonly currency: string | null;
  readonly per_order: number | null;
  readonly per_period: number | null;
  readonly period: BudgetPeriod | null;
  readonly period_starts_at: string | Date | null;
  readonly period_ends_at: string | Date | null;
  readonly time_zone: string;
  /** Amount spent in the current period; null if the limit has no period. */
  readonly spent: number | null;
  /** Product categories that can be ordered; null for all products. */
  readonly categories: readonly string[] | null;
};

type Amount = number | string | null;
/** A row that the SQL function returns. The drivers use different types for large numbers. */
type SpendingLimitRow = Omit<SpendingLimit, 'per_order' | 'per_period' | 'spent'> & {
  readonly per_order: Amount;
  readonly per_period: Amount;
  readonly spent: Amount;
};

/** Returns the limit that the customer set for a grant or API key, if any, followed by the limits that administrators set. */
export async function querySpendingLimitsAndSpentAmounts(em: EntityManager, grantId: string, clientId: string): Promise<SpendingLimit[]> {
  const rows = await em
    .getKysely()
    .selectFrom((eb) =>
      eb.fn<SpendingLimitRow>('mandate_spending_limits_v3', [eb.val(grantId), eb.val(clientId), eb.fn('clock_timestamp')]).as('l'),
    )
    .select([
      'l.set_by',
      'l.currency',
      'l.per_order',
      'l.per_period',
      'l.period',
      'l.period_starts_at',
      'l.period_ends_at',
      'l.time_zone',
      'l.spent',
      'l.categories',
    ])
    .execute();
  return rows
    .toSorted((a, b) => authors.indexOf(a.set_by) - authors.indexOf(b.set_by))
    .map(({ per_order: perOrder, per_period: perPeriod, spent, ...limit }) => ({
      ...limit,
      per_order: toNumber(perOrder),
      per_period: toNumber(perPeriod),
      spent: toNumber(spent),
    }));
}

const authors: readonly SpendingLimit['set_by'][] = ['customer', 'api_key', 'application', 'shop'];

const toNumber = (amount: Amount): number | null => (amount === null ? null : Number(amount));

/** Locks a grant's limits until the transaction ends. Returns false if no limit applies to the grant. */
export async function lockOrderLimitsOfGrantIfAny(em: EntityManager, grantId: string, clientId: string): Promise<boolean> {
  const locked = await em
    .getKysely()
    .selectFrom((eb) => eb.fn<{ grant_id: string | null }>('mandate_lock_order_limits_v2', [eb.val(grantId), eb.val(clientId)]).as('l'))
    .select('l.grant_id')
    .executeTakeFirst();
  return locked?.grant_id != null;
}

/** Returns true if the grant, or the API key whose limits are stored with this grant ID, has not been revoked. */
export async function queryIsGrantOrApiKeyActive(em: EntityManager, grantId: string): Promise<boolean> {
  const { isActive } = await em
    .getKysely()
    .selectNoFrom((eb) => eb.fn<boolean>('mandate_is_grant_active_v1', [eb.val(grantId)]).as('isActive'))
    .executeTakeFirstOrThrow();
  return isActive;
}

type OrderToCheck = {
  readonly productIds: readonly number[];
  readonly currency: string;
  readonly total: number;
  /** The part of the total that has not been counted toward the budget yet. */
  readonly added: number;
};

type LimitCheckOptions = {
  /** Whether the customer approved the order. If so, only the limits that administrators set apply. */
  readonly isApproved: boolean;
  readonly now: Date;
};

/** Returns the limit that an order exceeds, or null. */
export async function queryLimitExceededByOrder(
  em: EntityManager,
  grantId: string,
  clientId: string,
  { productIds, currency, total, added }: OrderToCheck,
  { isApproved, now }: LimitCheckOptions,
): Promise<ExceededLimit | null> {
  const { exceeded } = await em
    .getKysely()
    .selectNoFrom((eb) =>
      eb
        .fn<ExceededLimit | null>('mandate_find_exceeded_limit_v3', [
          eb.val(grantId),
          eb.val(clientId),
          eb.val(productIds),
          eb.val(currency),
          eb.val(total),
          eb.val(added),
          eb.val(now.toISOString()),
          eb.val(isApproved),
        ])
        .as('exceeded'),
    )
    .executeTakeFirstOrThrow();
  return exceeded;
}
