import { revokeApiKeys } from '../../api-keys/revoke-api-keys.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import type { EndAccess } from '../../http/routing/handler-dependencies.ts';
import { endSignIns } from './revoke-grants-and-sessions.ts';

const endSessions = statement('end_sessions', `delete from oauth_records where account_id = $1 and model in ('Session', 'Interaction')`);
const forgetSessions = statement('forget_sessions', 'delete from browser_sessions where user_id = $1');
const forget = ['passwords', 'consents', 'authenticator_apps', 'recovery_codes', 'passkeys', 'mailed_links'].map((table) =>
  statement(`forget_${table}`, `delete from ${table} where user_id = $1`),
);

/**
 * Ends everything that lets somebody in. Who leaves for now is signed out everywhere and keeps what they allowed; it works again
 * when they come back.
 */
export const endAccess: EndAccess = async (em, userId, leaves) => {
  await endSessions(em, [String(userId)]);
  await forgetSessions(em, [userId]);
  if (leaves === 'for now') return;
  await endSignIns(em, userId);
  await revokeApiKeys(em, { userId }, undefined, new Date());
  for (const remove of forget) await remove(em, [userId]);
};
