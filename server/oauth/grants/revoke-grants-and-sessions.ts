import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { deleteRevokedConnectedApps } from './grant-events.ts';

// Deletes grants first: a request that is issuing a token for a grant holds a lock on that grant, so this statement waits for it.
const deleteGrants = prepareStatement('delete_grants_of_user', `delete from oauth_records where account_id = $1 and model = 'Grant'`);
const deleteTokensAndSessions = prepareStatement('delete_oauth_records_of_user', 'delete from oauth_records where account_id = $1');
const deleteBrowserSessions = prepareStatement('delete_browser_sessions', 'delete from browser_sessions where user_id = $1');

/** Signs the user out of every browser and revokes every grant; stored consents are kept. Call this in a transaction. */
export async function revokeGrantsAndSessions(em: EntityManager, userId: number): Promise<void> {
  await deleteGrants(em, [String(userId)]);
  await deleteTokensAndSessions(em, [String(userId)]);
  await deleteBrowserSessions(em, [userId]);
  await deleteRevokedConnectedApps(em, 'user_id', userId);
}
