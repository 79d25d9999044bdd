import type { ConnectedApp } from '@mandate/contract';
import { instant } from '../../database/time/timestamp-format.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
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

const find = statement<Row>(
  'find_connection_of_grant',
  `select ${columns} from connections c left join applications a on a.client_id = c.client_id where c.grant_id = $1`,
);
const ending = (column: 'grant_id' | 'user_id' | 'client_id') =>
  statement<Row>(
    `end_connections_by_${column}`,
    `with c as (delete from connections where ${column} = any($1) returning *)
     select ${columns} from c left join applications a on a.client_id = c.client_id order by c.id`,
  );
const endings = { grant_id: ending('grant_id'), user_id: ending('user_id'), client_id: ending('client_id') };

/** In the transaction in which an application gets its first token of a grant. */
export async function recordGrantCreated(em: Em, grantId: string): Promise<void> {
  const [row] = await find(em, [grantId]);
  if (row) await recordEvent(em, 'grant.created', bodyOf(row), row.user_id);
}

/** In the transaction in which grants end: nobody is shown them any more, and each end is an event, if the grant was ever used. */
export async function endConnections(em: Em, by: keyof typeof endings, ...values: readonly (string | number)[]): Promise<void> {
  for (const row of await endings[by](em, [values])) {
    if (row.last_used_at !== null) await recordEvent(em, 'grant.revoked', bodyOf(row), row.user_id);
  }
}

const bodyOf = ({ id, client_id: clientId, name, first_party: firstParty, device, ...row }: Row): ConnectedApp => ({
  id,
  application: { client_id: clientId, name: name ?? clientId, first_party: firstParty ?? false },
  device,
  scopes: row.scopes,
  created_at: instant(row.created_at),
  last_used_at: instant(row.last_used_at ?? row.created_at),
});
