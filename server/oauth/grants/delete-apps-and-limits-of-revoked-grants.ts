import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../../events/record-event.ts';
import { cancelApprovalsOfGrants } from '../../approvals/record-expirations-and-cancel-for-grants.ts';
import { OrderLimits } from '../../order-limits/order-limits-and-budgeted-order.entity.ts';
import { ConnectedAppEntity } from './connected-app.entity.ts';
import { connectedAppResponseFromFields, findApplicationsOfConnectedApps } from './connected-app-response-and-applications.ts';

type RevokedConnectedApps =
  | { readonly grantId: string | { readonly $in: string[] } }
  | { readonly user: number }
  | { readonly clientId: string };

/** Maximum number of rows per statement. */
const batchSize = 1_000;

/**
 * Deletes the connected apps for revoked grants, and records `grant.revoked` for each grant that has been used. Call this in the
 * transaction that revokes the grants.
 */
export async function deleteRevokedGrantDataAndRecordEvents(em: EntityManager, where: RevokedConnectedApps): Promise<void> {
  const options = { orderBy: { id: 'asc' }, limit: batchSize, lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  const apps = await em.find(ConnectedAppEntity, where, options);
  if (apps.length === 0) return;
  await em.nativeDelete(ConnectedAppEntity, { id: { $in: apps.map(({ id }) => id) } });
  const grantIds = apps.map(({ grantId }) => grantId);
  await em.nativeDelete(OrderLimits, { grantId: { $in: grantIds } });
  // Locks the limits before the approvals, in the same order as the function that places orders, to avoid deadlocks.
  await cancelApprovalsOfGrants(em, grantIds, new Date());
  const used = apps.filter(({ lastUsedAt }) => lastUsedAt != null);
  const applications = await findApplicationsOfConnectedApps(em, used);
  for (const app of used) {
    await recordEvent(em, 'grant.revoked', connectedAppResponseFromFields(app, applications.get(app.clientId)), app.user);
  }
  if (apps.length === batchSize) await deleteRevokedGrantDataAndRecordEvents(em, where);
}
