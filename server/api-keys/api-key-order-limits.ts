import { LockMode } from '@mikro-orm/core';
import type { ApiKeyCreate, ApiKeyLimits } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { OrderLimits } from '../order-limits/order-limits-and-budgeted-order.entity.ts';
import { authorizationDetailsFromOrderLimits } from '../order-limits/order-limits-conversion.ts';
import { saveOrderLimits } from '../order-limits/save-find-and-delete-order-limits.ts';

/**
 * Returns the client ID that identifies an API key in orders, usage counters and log entries. The key's limits are stored under this ID,
 * which serves as the grant ID.
 */
export const clientIdFromApiKeyId = (id: number): string => `api-key-${id}`;

/** Stores the limits of a new API key. */
export async function saveOrderLimitsOfApiKey(
  em: EntityManager,
  id: number,
  { time_zone: timeZone, ...limits }: NonNullable<ApiKeyCreate['order_limits']>,
): Promise<void> {
  await saveOrderLimits(em, clientIdFromApiKeyId(id), { ...limits, approval: 'never' }, { timeZone });
}

/**
 * Waits until all transactions that have checked an order or a payment against the limits of these API keys have ended. Transactions for
 * later orders and payments wait until this transaction ends, and then detect that the key has been revoked.
 */
export async function waitForOrderChecksAndLockApiKeyLimits(em: EntityManager, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const lock = {
    fields: ['grantId'],
    orderBy: { grantId: 'asc' },
    lockMode: LockMode.PESSIMISTIC_WRITE,
    disableIdentityMap: true,
  } as const;
  await em.find(OrderLimits, { grantId: { $in: ids.map(clientIdFromApiKeyId) } }, lock);
}

/** Returns the limits of these API keys, keyed by API key ID. Keys without limits are omitted. */
export async function findOrderLimitsOfApiKeys(em: EntityManager, ids: readonly number[]): Promise<ReadonlyMap<number, ApiKeyLimits>> {
  const idsByClientId = new Map(ids.map((id) => [clientIdFromApiKeyId(id), id]));
  const rows =
    ids.length === 0 ? [] : await em.find(OrderLimits, { grantId: { $in: [...idsByClientId.keys()] } }, { disableIdentityMap: true });
  return new Map(
    rows.map((row) => {
      const { type: _type, approval: _approval, ...limits } = authorizationDetailsFromOrderLimits(row);
      return [idsByClientId.get(row.grantId) ?? 0, limits];
    }),
  );
}
