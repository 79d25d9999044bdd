import { orderActionsInAuthorizationDetails, type EffectiveOrderLimits } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { lockGrantLimitsForChange } from './lock-order-limits-for-change.ts';
import { OrderLimits, type OrderLimitsRow } from './order-limits-and-budgeted-order.entity.ts';
import { orderLimitsColumnsFromInput } from './order-limits-conversion.ts';

type SaveOptions = {
  /** Time zone that determines when a period starts. If absent, the stored time zone is kept; new limits use UTC. */
  readonly timeZone?: string | undefined;
  /** Whether the user can allow the application to access all orders. If absent, the stored value is kept; new limits use true. */
  readonly allOrdersGrantable?: boolean | undefined;
};

/**
 * Sets a grant's limits. Waits for orders that are being placed under the previous limits, so that every later order sees the new limits.
 * Call this function in a transaction.
 */
export async function saveOrderLimits(
  em: EntityManager,
  grantId: string,
  limits: EffectiveOrderLimits,
  { timeZone, allOrdersGrantable }: SaveOptions = {},
): Promise<void> {
  await lockGrantLimitsForChange(em, grantId);
  const columns = { ...orderLimitsColumnsFromInput(limits), setByUser: true, updatedAt: new Date() };
  const given = { ...(timeZone !== undefined && { timeZone }), ...(allOrdersGrantable !== undefined && { allOrdersGrantable }) };
  await em
    .createQueryBuilder(OrderLimits)
    .insert({ grantId, ...columns, ...given })
    .onConflict('grantId')
    .merge([
      ...mergedColumns,
      ...(timeZone === undefined ? [] : (['timeZone'] as const)),
      ...(allOrdersGrantable === undefined ? [] : (['allOrdersGrantable'] as const)),
    ])
    .execute();
}

const mergedColumns = [
  'actions',
  'currency',
  'perOrder',
  'perPeriod',
  'period',
  'categories',
  'validUntil',
  'ownOrdersOnly',
  'approval',
  'setByUser',
  'updatedAt',
] as const;

/** Returns the limits that a user set for a grant, or null. See `findEffectiveOrderLimits` for the limits that administrators set. */
export const findUserSetOrderLimits = (em: EntityManager, grantId: string): Promise<OrderLimitsRow | null> =>
  em.fork({ keepTransactionContext: true }).findOne(OrderLimits, { grantId, setByUser: true });

/**
 * Removes a grant's limits. A restriction to the application's own orders remains if the application requested this restriction or is a
 * third-party application. To remove such a restriction, users set new limits.
 */
export async function removeOrderLimitsExceptOwnOrdersRestriction(
  em: EntityManager,
  grantId: string,
  { firstParty }: { readonly firstParty: boolean },
): Promise<void> {
  const removable = { grantId, allOrdersGrantable: true, ...(!firstParty && { ownOrdersOnly: false }) };
  const removed = await em.nativeDelete(OrderLimits, removable);
  if (removed === 0 && (await findUserSetOrderLimits(em, grantId)))
    await saveOrderLimits(em, grantId, { actions: [...orderActionsInAuthorizationDetails], orders: 'own', approval: 'above_limit' });
}
