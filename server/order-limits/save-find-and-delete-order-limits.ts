import type { OrderLimitsInput } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { OrderLimits, type OrderLimitsRow } from './order-limits-and-budgeted-order.entity.ts';
import { orderLimitsColumnsFromInput } from './order-limits-conversion.ts';

/**
 * Sets a grant's limits. Waits for orders that are being placed under the previous limits, so that every later order sees the new limits.
 * @param timeZone time zone that determines when a period starts; without it, the stored time zone remains (default: UTC)
 */
export async function saveOrderLimits(em: EntityManager, grantId: string, input: OrderLimitsInput, timeZone?: string): Promise<void> {
  const columns = { ...orderLimitsColumnsFromInput(input), updatedAt: new Date() };
  const timeZoneColumn = timeZone === undefined ? {} : { timeZone };
  await em
    .createQueryBuilder(OrderLimits)
    .insert({ grantId, ...columns, ...timeZoneColumn })
    .onConflict('grantId')
    .merge([...mergedColumns, ...(timeZone === undefined ? [] : (['timeZone'] as const))])
    .execute();
}

const mergedColumns = ['actions', 'currency', 'perOrder', 'perPeriod', 'period', 'validUntil', 'updatedAt'] as const;

/** Returns a grant's limits and how much of its budget has been used, or null if the grant has no limits. */
export const findOrderLimits = (em: EntityManager, grantId: string): Promise<OrderLimitsRow | null> =>
  em.fork({ keepTransactionContext: true }).findOne(OrderLimits, { grantId });

/** Removes a grant's limits. Returns false if the grant has no limits. */
export const deleteOrderLimitsOfGrant = async (em: EntityManager, grantId: string): Promise<boolean> =>
  (await em.nativeDelete(OrderLimits, { grantId })) > 0;
