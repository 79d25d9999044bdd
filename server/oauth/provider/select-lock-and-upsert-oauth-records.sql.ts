import { prepareDeferredWrite, prepareStatement } from '../../database/queries/prepared-statement.ts';
import { storedRefreshResponseModelName, type StoredOauthRecord } from '../storage/oauth-record-mapping.ts';
import type { PrefetchedRecords } from '../storage/prefetched-record-and-client-types.ts';

/** Properties by which an OAuth record can be looked up. */
export type OauthRecordLookupKey = 'id' | 'uid' | 'userCode';
type Column = 'id' | 'uid' | 'user_code';

const prepareByKey = <Statement>(prepare: (column: Column) => Statement): Readonly<Record<OauthRecordLookupKey, Statement>> => ({
  id: prepare('id'),
  uid: prepare('uid'),
  userCode: prepare('user_code'),
});

const columns = 'model, id, payload, consumed_at as "consumedAt", expires_at as "expiresAt"';

// Written in SQL because it reads the session for every authorization request, and SQL is measurably faster (benchmark case `sign-in`).
export const selectRecordByKey = prepareByKey((column) =>
  prepareStatement<StoredOauthRecord>(
    `find_oauth_record_by_${column}`,
    `select ${columns} from oauth_records where model = $1 and ${column} = $2 and (expires_at is null or expires_at > $3)`,
  ),
);

// Written in SQL because it runs for every token request, and SQL is measurably faster (benchmark cases `refresh` and `sign-in`). The
// statement also reads what the request needs next: the grant (which is already locked), the user, and whether an account at a provider
// must be checked.
export const selectAndLockRecordWithGrantAndUser = prepareByKey((column) =>
  prepareStatement<PrefetchedRecords>(
    `lock_oauth_record_of_grant_by_${column}`,
    `select r.model, r.id, r.payload, r.consumed_at as "consumedAt", r.expires_at as "expiresAt",
       (select to_json(g) from (select ${columns} from oauth_records
          where model = 'Grant' and id = r.grant_id and (expires_at is null or expires_at > $3)) g) as grant,
       (select to_json(u) from (select id, name, email, email_verification = 'verified' as email_verified, locale, updated_at from users
          where id = case when r.account_id ~ '^[0-9]{1,15}$' then r.account_id::bigint end and status = 'active') u) as account,
       case when r.model = 'RefreshToken' and r.consumed_at is not null then (select payload from oauth_records
          where model = '${storedRefreshResponseModelName}' and id = r.grant_id and expires_at > $3) end as refresh_response,
       case when r.model = 'RefreshToken' then (select l.id from connections c join linked_accounts l on l.id = c.linked_account_id
          where c.grant_id = r.grant_id and l.check_due_at <= $3) end as due_linked_account_id
     from oauth_records r where r.model = $1 and r.${column} = $2 and (r.expires_at is null or r.expires_at > $3) for update of r`,
  ),
);

// Written in SQL because it runs for every token request, and SQL is measurably faster (benchmark cases `refresh` and `sign-in`). The
// statement is sent together with the next query (see docs/performance.md).
export const lockGrantOfRecord = prepareByKey((column) =>
  prepareDeferredWrite(
    `lock_grant_by_${column}`,
    `select id from oauth_records where model = 'Grant' and id = (select grant_id from oauth_records where model = $1 and ${column} = $2) for update`,
  ),
);

// Written in SQL because it writes every record, and SQL is measurably faster (benchmark cases `refresh`, `client-credentials` and
// `sign-in`). The statement is sent together with the next query (see docs/performance.md).
export const upsertOauthRecord = prepareDeferredWrite(
  'write_oauth_record',
  `insert into oauth_records (model, id, payload, grant_id, user_code, uid, account_id, client_id, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (model, id)
   do update set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, account_id = excluded.account_id,
     client_id = excluded.client_id, expires_at = excluded.expires_at`,
);

// Written in SQL because it runs for every refresh, and SQL is measurably faster (benchmark case `refresh`). The statement is sent together
// with the next query (see docs/performance.md).
export const markRecordConsumed = prepareDeferredWrite(
  'consume_oauth_record',
  'update oauth_records set consumed_at = $3 where model = $1 and id = $2',
);

// Written in SQL because it runs for every code exchange, and SQL is measurably faster (benchmark case `sign-in`). The statement is sent
// together with the next query (see docs/performance.md).
export const markConsumedAndKeepUntilGrantExpires = prepareDeferredWrite(
  'consume_and_extend_oauth_record',
  `update oauth_records spent set consumed_at = $3,
     expires_at = coalesce((select g.expires_at from oauth_records g where g.model = 'Grant' and g.id = spent.grant_id), spent.expires_at)
   where model = $1 and id = $2`,
);
