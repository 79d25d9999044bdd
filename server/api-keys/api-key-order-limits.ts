import type { ApiKeyCreate, ApiKeyLimits } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { OrderLimits } from '../order-limits/order-limits-and-budgeted-order.entity.ts';
import { authorizationDetailsFromOrderLimits } from '../order-limits/order-limits-conversion.ts';
import { saveOrderLimits } from '../order-limits/save-find-and-delete-order-limits.ts';

/** Returns the client ID that an API key has in orders, usage counters and log entries. Its limits are stored with this ID as grant ID. */
export const getClientIdOfApiKey = (id: number): string => `api-key-${id}`;

/** Stores the limits of a new API key. */
export async function saveOrderLimitsOfApiKey(
  em: EntityManager,
  id: number,
  { time_zone: timeZone, ...limits }: NonNullable<ApiKeyCreate['order_limits']>,
): Promise<void> {
  await saveOrderLimits(em, getClientIdOfApiKey(id), { ...limits, approval: 'never' }, { timeZone });
}

/** Returns the limits of those of these API keys that have limits, by the ID of the key. */
export async function findOrderLimitsOfApiKeys(em: EntityManager, ids: readonly number[]): Promise<ReadonlyMap<number, ApiKeyLimits>> {
  const idsByClientId = new Map(ids.map((id) => [getClientIdOfApiKey(id), id]));
  const rows =
    ids.length === 0 ? [] : await em.find(OrderLimits, { grantId: { $in: [...idsByClientId.keys()] } }, { disableIdentityMap: true });
  return new Map(
    rows.map((row) => {
      const { type: _type, approval: _approval, ...limits } = authorizationDetailsFromOrderLimits(row);
      return [idsByClientId.get(row.grantId) ?? 0, limits];
    }),
  );
}
