import { revokeApiKeys, type ApiKeyRevocationCause } from '../api-keys/revoke-api-keys.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { deleteRevokedGrantDataAndRecordEvents } from '../oauth/grants/delete-apps-and-limits-of-revoked-grants.ts';
import { OauthRecord } from '../oauth/storage/oauth-record.entity.ts';
import { lockApplicationRow } from './validate-lock-and-update-application.ts';

/**
 * Deletes an application, its users' grants and the API keys created through the application, in one transaction. Returns the client ID.
 */
export async function deleteApplicationAndRevokeGrantsAndKeys(
  em: EntityManager,
  id: number,
  by: Omit<ApiKeyRevocationCause, 'reason'>,
  now: Date,
): Promise<string> {
  const application = await lockApplicationRow(em, id);
  const { clientId } = application;
  // The grants are deleted first, so that the transaction waits here for requests that hold a lock on a grant.
  const grantIds = em
    .createQueryBuilder(OauthRecord)
    .select('grantId')
    .where({ clientId, grantId: { $ne: null } });
  await em.nativeDelete(OauthRecord, { model: 'Grant', id: { $in: grantIds.toRaw() } });
  await em.nativeDelete(OauthRecord, { clientId });
  await deleteRevokedGrantDataAndRecordEvents(em, { clientId });
  await revokeApiKeys(em, { clientId }, { ...by, reason: 'application_deleted' }, now);
  await em.remove(application).flush();
  return clientId;
}
