import { revokeApiKeys, type RevocationCause } from '../api-keys/revoke-api-keys.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { endConnections } from '../oauth/grants/grant-events.ts';
import { lockApplication } from './update-application.ts';

// Grants are deleted first, which waits for requests that hold a lock on one of them.
const deleteGrants = statement(
  'end_grants_of_application',
  `delete from oauth_records where model = 'Grant' and id in
  (select grant_id from oauth_records where client_id = $1 and grant_id is not null)`,
);
const deleteRecords = statement('end_records_of_application', 'delete from oauth_records where client_id = $1');

/** Deletes an application, with the grants of its users and the API keys created through it, in one transaction. Returns its client ID. */
export async function deleteApplication(em: Em, id: number, by: Omit<RevocationCause, 'reason'>, now: Date): Promise<string> {
  const application = await lockApplication(em, id);
  await deleteGrants(em, [application.clientId]);
  await deleteRecords(em, [application.clientId]);
  await endConnections(em, 'client_id', application.clientId);
  await revokeApiKeys(em, { clientId: application.clientId }, { ...by, reason: 'application_deleted' }, now);
  await em.remove(application).flush();
  return application.clientId;
}
