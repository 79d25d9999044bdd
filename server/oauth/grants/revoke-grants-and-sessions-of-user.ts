import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { deleteSessionsAndQueueLogoutTokens } from '../back-channel-logout/delete-sessions-and-queue-logout-tokens.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { BrowserSession } from '../sessions/browser-session.entity.ts';
import { deleteRevokedGrantDataAndRecordEvents } from './delete-apps-and-limits-of-revoked-grants.ts';

/** Signs the user out of every browser and revokes every grant; stored consents are kept. Call this in a transaction. */
export async function revokeGrantsAndSessionsOfUser(em: EntityManager, userId: number): Promise<void> {
  const accountId = String(userId);
  // Deletes the grants first. A request that is issuing a token has locked its grant, so this statement waits until that request has
  // finished.
  await em.nativeDelete(OauthRecord, { accountId, model: 'Grant' });
  await deleteSessionsAndQueueLogoutTokens(em, { accountId });
  await em.nativeDelete(OauthRecord, { accountId });
  await em.nativeDelete(BrowserSession, { user: userId });
  await deleteRevokedGrantDataAndRecordEvents(em, { user: userId });
}
