import { revokeApiKeys } from '../../api-keys/revoke-api-keys.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import type { EndAccess } from '../../http/routing/handler-dependencies.ts';
import { endSignIns } from './revoke-grants-and-sessions.ts';

const deleteSessions = statement('end_sessions', `delete from oauth_records where account_id = $1 and model in ('Session', 'Interaction')`);
const deleteBrowserSessions = statement('forget_sessions', 'delete from browser_sessions where user_id = $1');
const deleteStatements = ['passwords', 'consents', 'authenticator_apps', 'recovery_codes', 'passkeys', 'mailed_links'].map((table) =>
  statement(`forget_${table}`, `delete from ${table} where user_id = $1`),
);

/**
 * Revokes the access of a user who is suspended (`for now`) or whose account is closed. A suspended user is signed out everywhere; grants,
 * credentials and API keys stay and work again after reactivation. For a closed account they are all deleted or revoked.
 */
export const endAccess: EndAccess = async (em, userId, leaves) => {
  await deleteSessions(em, [String(userId)]);
  await deleteBrowserSessions(em, [userId]);
  if (leaves === 'for now') return;
  await endSignIns(em, userId);
  await revokeApiKeys(em, { userId }, undefined, new Date());
  for (const deleteRows of deleteStatements) await deleteRows(em, [userId]);
};
