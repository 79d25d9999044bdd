import type { ConnectedApp } from '@mandate/contract';
import { timestampToRfc3339 } from '../../database/time/timestamp-to-rfc3339.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { recordEvent } from '../../events/record-event.ts';

type Row = {
  id: number;
  user_id: number;
  client_id: string;
  name: string | null;
  first_party: boolean | null;
  device: string | null;
  scopes: string[];
  created_at: string;
  last_used_at: string | null;
};

const columns = 'c.id, c.user_id, c.client_id, a.name, a.first_party, c.device, c.scopes, c.created_at, c.last_used_at';

const findByGrant = prepareStatement<Row>(
  'find_connected_app_of_grant',
  `select ${columns} from connections c left join applications a on a.client_id = c.client_id where c.grant_id = $1`,
);
const deleteBy = (column: 'grant_id' | 'user_id' | 'client_id') =>
  prepareStatement<Row>(
    `delete_connected_apps_by_${column}`,
    `with c as (delete from connections where ${column} = any($1) returning *)
     select ${columns} from c left join applications a on a.client_id = c.client_id order by c.id`,
  );
const deleteStatements = { grant_id: deleteBy('grant_id'), user_id: deleteBy('user_id'), client_id: deleteBy('client_id') };

/** Records `grant.created` for a grant's first token. Call this in the transaction that issues the token. */
export async function recordGrantCreatedEvent(em: EntityManager, grantId: string): Promise<void> {
  const [row] = await findByGrant(em, [grantId]);
  if (row) await recordEvent(em, 'grant.created', connectedAppFromRow(row), row.user_id);
}

/**
 * Deletes the connected apps of revoked grants, and records `grant.revoked` for each grant that has been used. Call this in the transaction
 * that revokes the grants.
 */
export async function deleteRevokedConnectedApps(
  em: EntityManager,
  by: keyof typeof deleteStatements,
  ...values: readonly (string | number)[]
): Promise<void> {
  for (const row of await deleteStatements[by](em, [values])) {
    if (row.last_used_at !== null) await recordEvent(em, 'grant.revoked', connectedAppFromRow(row), row.user_id);
  }
}

const connectedAppFromRow = ({ id, client_id: clientId, name, first_party: firstParty, device, ...row }: Row): ConnectedApp => ({
  id,
  application: { client_id: clientId, name: name ?? clientId, first_party: firstParty ?? false },
  device,
  scopes: row.scopes,
  created_at: timestampToRfc3339(row.created_at),
  last_used_at: timestampToRfc3339(row.last_used_at ?? row.created_at),
});
