import { revokeApiKeys } from '../../api-keys/revoke-api-keys.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { RevokeAccess } from '../../http/routing/handler-dependencies.ts';
import { revokeGrantsAndSessions } from './revoke-grants-and-sessions.ts';

const deleteSessions = prepareStatement(
  'delete_oauth_sessions',
  `delete from oauth_records where account_id = $1 and model in ('Session', 'Interaction')`,
);
const deleteBrowserSessions = prepareStatement('delete_browser_sessions_of_user', 'delete from browser_sessions where user_id = $1');
const deleteStatements = ['passwords', 'consents', 'authenticator_apps', 'recovery_codes', 'passkeys', 'mailed_links'].map((table) =>
  prepareStatement(`delete_${table}_of_user`, `delete from ${table} where user_id = $1`),
);

/**
 * Revokes a user's access when the user is suspended or the account is closed. A suspended user is signed out everywhere; grants,
 * credentials and API keys are kept and work again after reactivation. When an account is closed, all of them are deleted or revoked.
 */
export const revokeUserAccess: RevokeAccess = async (em, userId, reason) => {
  await deleteSessions(em, [String(userId)]);
  await deleteBrowserSessions(em, [userId]);
  if (reason === 'suspended') return;
  await revokeGrantsAndSessions(em, userId);
  await revokeApiKeys(em, { userId }, undefined, new Date());
  for (const deleteRows of deleteStatements) await deleteRows(em, [userId]);
};
