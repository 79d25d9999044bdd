import { prepareDeferredWrite, prepareStatement } from '../../database/queries/prepared-statement.ts';

// Written in SQL because it runs for every authorization request, and SQL is measurably faster (benchmark case `sign-in`). The linked
// account is $8 or, if $8 is null, the linked account of the browser session $7.
export const insertConnectedApp = prepareStatement(
  'insert_connected_app',
  `insert into connections (grant_id, user_id, client_id, device, created_at, preapproved_scopes, linked_account_id)
   values ($1, $2, $3, $4, $5, $6::text[], coalesce($8::bigint, (select linked_account_id from browser_sessions where uid = $7)))
   on conflict (grant_id) do nothing`,
);

const upsertUseSql = `insert into connections (grant_id, user_id, client_id, created_at, last_used_at, scopes) values ($1, $2, $3, $4, $4, $5::text[])
   on conflict (grant_id) do update set last_used_at = excluded.last_used_at, scopes = excluded.scopes`;

type ConnectedAppUseRow = {
  /** Whether this is the first token of the grant. */
  readonly first: boolean;
  readonly id: number;
  readonly device: string | null;
  readonly createdAt: string;
  readonly application: { readonly name: string; readonly firstParty: boolean } | null;
};

// Written in SQL because it runs for every code exchange, and SQL is measurably faster (benchmark case `sign-in`).
export const upsertConnectedAppUse = prepareStatement<ConnectedAppUseRow>(
  'record_connected_app_use',
  `with before as (select last_used_at from connections where grant_id = $1)
   ${upsertUseSql}
   returning (select last_used_at from before) is null as first, id, device, created_at as "createdAt",
     (select to_json(a) from (select name, first_party as "firstParty" from applications where client_id = connections.client_id) a) as application`,
);

// Written in SQL because it runs for every refresh, and SQL is measurably faster (benchmark case `refresh`). The statement is sent together
// with the next query (see docs/performance.md).
export const upsertConnectedAppUseOnRefresh = prepareDeferredWrite('record_repeated_connected_app_use', upsertUseSql);
