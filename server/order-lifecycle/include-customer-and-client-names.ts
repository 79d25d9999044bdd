import type { OrderSummary } from '@mandate/contract';
import { findApplicationAndApiKeyNames } from '../api-keys/find-application-and-api-key-names.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { OrderRow } from '../orders/order-from-row.ts';
import { User } from '../users/user.entity.ts';

type Inclusions = { readonly customer: boolean; readonly client: boolean };

/**
 * Adds customer and application names to listed orders. One query reads the customer names, and another query reads the application names.
 */
export async function includeCustomerAndClientNames(
  em: EntityManager,
  rows: readonly OrderRow[],
  { customer, client }: Inclusions,
): Promise<readonly OrderRow[]> {
  if (!customer && !client) return rows;
  const userNames = customer ? await findUserNames(em, [...new Set(rows.map((row) => row.user_id))]) : new Map<number, string>();
  const clientIds = [...new Set(rows.flatMap((row) => row.client_id ?? []))];
  const clientNames = client ? await findApplicationAndApiKeyNames(em, clientIds) : new Map<string, string>();
  return rows.map((row) => ({
    ...row,
    ...(customer && { customer: { id: row.user_id, name: userNames.get(row.user_id) ?? '' } }),
    ...(client && { client: clientFromId(row.client_id, clientNames) }),
  }));
}

const clientFromId = (clientId: string | null, names: ReadonlyMap<string, string>): NonNullable<OrderSummary['client']> | null =>
  clientId === null ? null : { client_id: clientId, name: names.get(clientId) ?? null };

async function findUserNames(em: EntityManager, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const users = await em.find(User, { id: { $in: [...ids] } }, { fields: ['id', 'name'], disableIdentityMap: true });
  return new Map(users.map(({ id, name }) => [id, name]));
}
