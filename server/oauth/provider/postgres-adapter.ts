import { errors, Provider, type Adapter, type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareDeferredStatement, prepareStatement } from '../../database/queries/prepared-statement.ts';
import { oauthContext } from '../protocol/oauth-request-context.ts';
import type { PrefetchedRecords } from '../storage/prefetched-records.ts';
import {
  isHashedRecordId,
  storageIdFromIdOrHash,
  storageIdFromPresentedId,
  grantRecordModels,
  hashRecordId,
  refreshResponseRecordModel,
  type StoredOauthRecord,
  adapterPayloadFromOauthRecord,
  oauthRecordRowFromAdapterPayload,
} from '../storage/oauth-record-mapping.ts';

/** Single-use records. A lookup locks the record, so that the second of two concurrent requests sees the first request's result. */
const singleUseModels = new Set(['AuthorizationCode', 'DeviceCode', 'Interaction', 'PushedAuthorizationRequest', 'RefreshToken']);
/** Records to which an interaction refers by storage ID while the user signs in. */
const referencedByInteractions = new Set(['DeviceCode', 'PushedAuthorizationRequest']);
/** Models whose consumed records are stored until their grant expires, because reuse of the code revokes the grant. */
const keptUntilGrantExpires = new Set(['AuthorizationCode', 'DeviceCode']);

type Column = 'id' | 'uid' | 'user_code';
const byColumn = <Found>(make: (column: Column) => Found): Readonly<Record<Column, Found>> => ({
  id: make('id'),
  uid: make('uid'),
  user_code: make('user_code'),
});

const selectUnexpiredSql = (column: Column): string =>
  `select model, id, payload, consumed_at, expires_at from oauth_records where model = $1 and ${column} = $2 and (expires_at is null or expires_at > $3)`;
const read = byColumn((column) => prepareStatement<StoredOauthRecord>(`find_oauth_record_by_${column}`, selectUnexpiredSql(column)));
const readAndLock = byColumn((column) =>
  prepareStatement<StoredOauthRecord>(`lock_oauth_record_by_${column}`, `${selectUnexpiredSql(column)} for update`),
);
/** Also reads the records that the request needs next: the grant, which is already locked, and the user. */
const readAndLockOfAGrant = byColumn((column) =>
  prepareStatement<PrefetchedRecords>(
    `lock_oauth_record_of_grant_by_${column}`,
    `select r.model, r.id, r.payload, r.consumed_at, r.expires_at,
       (select to_json(g) from (select model, id, payload, consumed_at, expires_at from oauth_records
          where model = 'Grant' and id = r.grant_id and (expires_at is null or expires_at > $3)) g) as grant,
       (select to_json(u) from (select id, name, email, email_verification = 'verified' as email_verified, updated_at from users
          where id = case when r.account_id ~ '^[0-9]{1,15}$' then r.account_id::bigint end and status = 'active') u) as account,
       case when r.model = 'RefreshToken' and r.consumed_at is not null then (select payload from oauth_records
          where model = '${refreshResponseRecordModel}' and id = r.grant_id and expires_at > $3) end as refresh_response
     from oauth_records r where r.model = $1 and r.${column} = $2 and (r.expires_at is null or r.expires_at > $3) for update of r`,
  ),
);
const lockGrant = byColumn((column) =>
  prepareDeferredStatement(
    `lock_grant_by_${column}`,
    `select id from oauth_records where model = 'Grant' and id = (select grant_id from oauth_records where model = $1 and ${column} = $2) for update`,
  ),
);
const insertSql = `insert into oauth_records (model, id, payload, grant_id, user_code, uid, account_id, client_id, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (model, id)`;
const upsertRecord = prepareDeferredStatement(
  'write_oauth_record',
  `${insertSql} do update set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, account_id = excluded.account_id,
     client_id = excluded.client_id, expires_at = excluded.expires_at`,
);
const insertOnce = prepareStatement('write_oauth_record_once', `${insertSql} do nothing returning id`);
const markConsumed = prepareDeferredStatement(
  'consume_oauth_record',
  'update oauth_records set consumed_at = $3 where model = $1 and id = $2',
);
const markConsumedUntilGrantExpires = prepareDeferredStatement(
  'consume_and_extend_oauth_record',
  `update oauth_records spent set consumed_at = $3,
     expires_at = coalesce((select g.expires_at from oauth_records g where g.model = 'Grant' and g.id = spent.grant_id), spent.expires_at)
   where model = $1 and id = $2`,
);
const deleteRecord = prepareDeferredStatement('delete_oauth_record', 'delete from oauth_records where model = $1 and id = $2');
const deleteRecordsOfGrant = prepareDeferredStatement(
  'delete_oauth_records_of_grant',
  'delete from oauth_records where model = any($1) and grant_id = $2',
);

type AdapterEm = Pick<EntityManager, 'getKysely' | 'isInTransaction'>;

/**
 * Creates the storage adapters for oidc-provider. Inside `runRequestInTransaction`, `em` uses the request's transaction. Without a
 * transaction, a record is not locked, and two concurrent requests could use the same code.
 */
export const createPostgresAdapterFactory =
  (em: AdapterEm): AdapterFactory =>
  (model) =>
    new PostgresAdapter(em, model);

class PostgresAdapter implements Adapter {
  readonly #em: AdapterEm;
  readonly #model: string;

  constructor(em: AdapterEm, model: string) {
    this.#em = em;
    this.#model = model;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const locked = this.#model === 'RefreshToken' && Provider.ctx ? oauthContext(Provider.ctx.req).lockedRefreshToken : undefined;
    if (locked?.token === id) return locked.payload;
    return isStorageId(this.#model, id) ? this.#load('id', id) : this.#load('id', storageIdFromPresentedId(this.#model, id), id);
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#load('uid', uid);
  }

  async findByUserCode(code: string): Promise<AdapterPayload | undefined> {
    const found = await this.#load('user_code', hashRecordId(code));
    return found && { ...found, userCode: code };
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    this.#invalidatePrefetchedGrant();
    const row = oauthRecordRowFromAdapterPayload(this.#model, id, payload, expiresIn);
    const values = [row.model, row.id, row.payload, row.grant_id, row.user_code, row.uid, row.account_id, row.client_id, row.expires_at];
    // the second of two concurrent requests with the same DPoP proof waits for the first request and then finds its record
    const once = this.#model === 'ReplayDetection';
    if (!once) return upsertRecord(this.#em, values);
    if ((await insertOnce(this.#em, values)).length === 0) throw new errors.InvalidGrant('DPoP proof JWT Replay detected');
  }

  async consume(id: string): Promise<void> {
    const mark = keptUntilGrantExpires.has(this.#model) ? markConsumedUntilGrantExpires : markConsumed;
    await mark(this.#em, [this.#model, storageIdFromIdOrHash(this.#model, id), new Date()]);
  }

  async destroy(id: string): Promise<void> {
    this.#invalidatePrefetchedGrant();
    await deleteRecord(this.#em, [this.#model, storageIdFromIdOrHash(this.#model, id)]);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const models = this.#model === 'RefreshToken' ? [this.#model, refreshResponseRecordModel] : [this.#model];
    await deleteRecordsOfGrant(this.#em, [models, grantId]);
  }

  /** Invalidates the prefetched grant. */
  #invalidatePrefetchedGrant(): void {
    if (this.#model === 'Grant' && Provider.ctx) oauthContext(Provider.ctx.req).prefetched = undefined;
  }

  async #load(column: Column, value: string, presented?: string): Promise<AdapterPayload | undefined> {
    if (value.includes('\0')) return undefined; // PostgreSQL text cannot contain NUL, so no record can match
    const parameters = [this.#model, value, new Date()];
    if (!this.#em.isInTransaction()) return payloadFromRow(await read[column](this.#em, parameters), presented);
    const context = Provider.ctx && oauthContext(Provider.ctx.req);
    const grant = this.#model === 'Grant' ? context?.prefetched?.grant : undefined;
    if (grant?.id === value) return adapterPayloadFromOauthRecord(grant, presented);
    // Locks the grant before the record, so that two requests that revoke the same grant cannot deadlock.
    if (grantRecordModels.has(this.#model)) await lockGrant[column](this.#em, [this.#model, value]);
    if (!singleUseModels.has(this.#model)) return payloadFromRow(await read[column](this.#em, parameters), presented);
    if (!grantRecordModels.has(this.#model)) return payloadFromRow(await readAndLock[column](this.#em, parameters), presented);
    const [row] = await readAndLockOfAGrant[column](this.#em, parameters);
    if (context) context.prefetched = row;
    return row && adapterPayloadFromOauthRecord(row, presented);
  }
}

const payloadFromRow = ([row]: readonly StoredOauthRecord[], presented: string | undefined): AdapterPayload | undefined =>
  row && adapterPayloadFromOauthRecord(row, presented);

/** Returns whether the ID is a storage ID from an interaction record rather than from the client. Storage IDs occur only on resume. */
const isStorageId = (model: string, id: string): boolean =>
  referencedByInteractions.has(model) && isHashedRecordId(id) && resumeRoutes.has(Provider.ctx?.oidc.route ?? '');
const resumeRoutes = new Set(['resume', 'device_resume']);
