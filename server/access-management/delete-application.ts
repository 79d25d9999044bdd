import { revokeApiKeys, type ApiKeyRevocationCause } from '../api-keys/revoke-api-keys.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { deleteRevokedConnectedApps } from '../oauth/grants/grant-events.ts';
import { lockApplication } from './update-application.ts';

// Grants are deleted first, which waits for requests that hold a lock on one of them.
const deleteGrants = prepareStatement(
  'delete_grants_of_application',
  `delete from oauth_records where model = 'Grant' and id in
  (select grant_id from oauth_records where client_id = $1 and grant_id is not null)`,
);
const deleteRecords = prepareStatement('delete_oauth_records_of_application', 'delete from oauth_records where client_id = $1');

/** Deletes an application, with the grants of its users and the API keys created through it, in one transaction. Returns its client ID. */
export async function deleteApplication(
  em: EntityManager,
  id: number,
  by: Omit<ApiKeyRevocationCause, 'reason'>,
  now: Date,
): Promise<string> {
  const application = await lockApplication(em, id);
  await deleteGrants(em, [application.clientId]);
  await deleteRecords(em, [application.clientId]);
  await deleteRevokedConnectedApps(em, 'client_id', application.clientId);
  await revokeApiKeys(em, { clientId: application.clientId }, { ...by, reason: 'application_deleted' }, now);
  await em.remove(application).flush();
  return application.clientId;
}
