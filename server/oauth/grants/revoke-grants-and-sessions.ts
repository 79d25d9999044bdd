import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { endConnections } from './grant-events.ts';

// Grants go first: who is about to give out a token of one holds it, and is waited for.
const endGrants = statement('end_grants_of_user', `delete from oauth_records where account_id = $1 and model = 'Grant'`);
const endTokensAndSessions = statement('end_tokens_of_user', 'delete from oauth_records where account_id = $1');
const forgetSessions = statement('forget_browser_sessions', 'delete from browser_sessions where user_id = $1');

/** In a transaction: every browser and every application of this person has to begin anew. What they agreed to is remembered. */
export async function endSignIns(em: Em, userId: number): Promise<void> {
  await endGrants(em, [String(userId)]);
  await endTokensAndSessions(em, [String(userId)]);
  await forgetSessions(em, [userId]);
  await endConnections(em, 'user_id', userId);
}
