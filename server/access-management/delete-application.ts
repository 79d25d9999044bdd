import { revokeApiKeys, type RevocationCause } from '../api-keys/revoke-api-keys.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { endConnections } from '../oauth/grants/grant-events.ts';
import { lockApplication } from './update-application.ts';

// Grants first: whoever is about to use one of them holds it, and is waited for.
const endGrants = statement(
  'end_grants_of_application',
  `delete from oauth_records where model = 'Grant' and id in
  (select grant_id from oauth_records where client_id = $1 and grant_id is not null)`,
);
const endRecords = statement('end_records_of_application', 'delete from oauth_records where client_id = $1');

/** With everything people allowed it and the API keys that were created through it, in one transaction. */
export async function deleteApplication(em: Em, id: number, by: Omit<RevocationCause, 'reason'>, now: Date): Promise<string> {
  const application = await lockApplication(em, id);
  await endGrants(em, [application.clientId]);
  await endRecords(em, [application.clientId]);
  await endConnections(em, 'client_id', application.clientId);
  await revokeApiKeys(em, { clientId: application.clientId }, { ...by, reason: 'application_deleted' }, now);
  await em.remove(application).flush();
  return application.clientId;
}
