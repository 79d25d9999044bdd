import { errors, Provider, type Adapter, type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { laterStatement, statement } from '../../database/queries/prepared-statement.ts';
import { foundTogether, noteFoundTogether, type FoundTogether as RecordsFound } from '../storage/prefetched-records.ts';
import {
  isRecordKey,
  keyOfFound,
  keyOfPresented,
  ofAGrant,
  recordKey,
  refreshResponseModel,
  type Stored,
  toPayload,
  toRow,
} from '../storage/oauth-record-mapping.ts';
import { repeatsRefresh } from '../refresh/replay-refresh-response.ts';

/** Good for one use: looking one up locks it, so that of two requests the second sees what the first did. */
const usedOnce = new Set(['AuthorizationCode', 'DeviceCode', 'Interaction', 'PushedAuthorizationRequest', 'RefreshToken']);
/** What an interaction remembers by its key while the person signs in. */
const rememberedByKey = new Set(['DeviceCode', 'PushedAuthorizationRequest']);
/** A spent code is remembered for as long as what came of it can live: whoever comes with it later ends all of that. */
const outlives = new Set(['AuthorizationCode', 'DeviceCode']);

type Column = 'id' | 'uid' | 'user_code';
const byColumn = <Found>(make: (column: Column) => Found): Readonly<Record<Column, Found>> => ({
  id: make('id'),
  uid: make('uid'),
  user_code: make('user_code'),
});

const standing = (column: Column): string =>
  `select model, id, payload, consumed_at, expires_at from oauth_records where model = $1 and ${column} = $2 and (expires_at is null or expires_at > $3)`;
const read = byColumn((column) => statement<Stored>(`oauth_record_by_${column}`, standing(column)));
const readAndLock = byColumn((column) => statement<Stored>(`lock_oauth_record_by_${column}`, `${standing(column)} for update`));
/** With what is asked next of whoever comes with it: its grant, which is locked before, and its person. */
const readAndLockOfAGrant = byColumn((column) =>
  statement<Stored & RecordsFound>(
    `lock_oauth_record_of_grant_by_${column}`,
    `select r.model, r.id, r.payload, r.consumed_at, r.expires_at,
       (select to_json(g) from (select model, id, payload, consumed_at, expires_at from oauth_records
          where model = 'Grant' and id = r.grant_id and (expires_at is null or expires_at > $3)) g) as grant,
       (select to_json(u) from (select id, name, email, email_verification = 'verified' as email_verified, updated_at from users
          where id = case when r.account_id ~ '^[0-9]{1,15}$' then r.account_id::bigint end and status = 'active') u) as account,
       case when r.model = 'RefreshToken' and r.consumed_at is not null then (select payload from oauth_records
          where model = '${refreshResponseModel}' and id = r.grant_id and expires_at > $3) end as refresh_response
     from oauth_records r where r.model = $1 and r.${column} = $2 and (r.expires_at is null or r.expires_at > $3) for update of r`,
  ),
);
const lockGrant = byColumn((column) =>
  laterStatement(
    `lock_grant_by_${column}`,
    `select id from oauth_records where model = 'Grant' and id = (select grant_id from oauth_records where model = $1 and ${column} = $2) for update`,
  ),
);
const insert = `insert into oauth_records (model, id, payload, grant_id, user_code, uid, account_id, client_id, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (model, id)`;
const write = laterStatement(
  'write_oauth_record',
  `${insert} do update set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, account_id = excluded.account_id,
     client_id = excluded.client_id, expires_at = excluded.expires_at`,
);
const writeOnce = statement('write_oauth_record_once', `${insert} do nothing returning id`);
const spend = laterStatement('spend_oauth_record', 'update oauth_records set consumed_at = $3 where model = $1 and id = $2');
const spendAndKeep = laterStatement(
  'spend_and_keep_oauth_record',
  `update oauth_records spent set consumed_at = $3,
     expires_at = coalesce((select g.expires_at from oauth_records g where g.model = 'Grant' and g.id = spent.grant_id), spent.expires_at)
   where model = $1 and id = $2`,
);
const remove = laterStatement('remove_oauth_record', 'delete from oauth_records where model = $1 and id = $2');
const removeOfGrant = laterStatement('remove_oauth_records_of_grant', 'delete from oauth_records where model = any($1) and grant_id = $2');

type StoreEm = Pick<Em, 'getKysely' | 'isInTransaction'>;

/**
 * oidc-provider's storage. `em` is the ORM's own: inside request-transaction.ts it is that transaction.
 * Without a transaction around it a record is not locked, and a code could be used by two requests at once.
 */
export const tokenStore =
  (em: StoreEm): AdapterFactory =>
  (model) =>
    new TokenStore(em, model);

class TokenStore implements Adapter {
  readonly #em: StoreEm;
  readonly #model: string;

  constructor(em: StoreEm, model: string) {
    this.#em = em;
    this.#model = model;
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return isKey(this.#model, id) ? this.#load('id', id) : this.#load('id', keyOfPresented(this.#model, id), id);
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#load('uid', uid);
  }

  async findByUserCode(code: string): Promise<AdapterPayload | undefined> {
    const found = await this.#load('user_code', recordKey(code));
    return found && { ...found, userCode: code };
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    this.#forgetGrant();
    const row = toRow(this.#model, id, payload, expiresIn);
    const values = [row.model, row.id, row.payload, row.grant_id, row.user_code, row.uid, row.account_id, row.client_id, row.expires_at];
    // of two requests that come with one proof, the second waits for the first, and finds it kept
    const once = this.#model === 'ReplayDetection';
    if (!once) return write(this.#em, values);
    if ((await writeOnce(this.#em, values)).length === 0) throw new errors.InvalidGrant('DPoP proof JWT Replay detected');
  }

  async consume(id: string): Promise<void> {
    const spending = outlives.has(this.#model) ? spendAndKeep : spend;
    await spending(this.#em, [this.#model, keyOfFound(this.#model, id), new Date()]);
  }

  async destroy(id: string): Promise<void> {
    this.#forgetGrant();
    await remove(this.#em, [this.#model, keyOfFound(this.#model, id)]);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const models = this.#model === 'RefreshToken' ? [this.#model, refreshResponseModel] : [this.#model];
    await removeOfGrant(this.#em, [models, grantId]);
  }

  /** What was found of a grant is not what it is from here on. */
  #forgetGrant(): void {
    if (this.#model === 'Grant') noteFoundTogether(Provider.ctx, undefined);
  }

  async #load(column: Column, value: string, presented?: string): Promise<AdapterPayload | undefined> {
    if (value.includes('\0')) return undefined; // PostgreSQL's text cannot hold it, so nothing is called that
    const asked = [this.#model, value, new Date()];
    if (!this.#em.isInTransaction()) return payloadOf(await read[column](this.#em, asked), presented);
    if (this.#model === 'Grant') {
      const grant = foundTogether(Provider.ctx)?.grant;
      if (grant?.id === value) return toPayload(grant, presented);
    }
    // The grant comes first, whatever of it is asked for: of two requests that revoke it, neither can hold what the other waits for.
    if (ofAGrant.has(this.#model)) await lockGrant[column](this.#em, [this.#model, value]);
    if (!usedOnce.has(this.#model)) return payloadOf(await read[column](this.#em, asked), presented);
    if (!ofAGrant.has(this.#model)) return payloadOf(await readAndLock[column](this.#em, asked), presented);
    const [row] = await readAndLockOfAGrant[column](this.#em, asked);
    noteFoundTogether(Provider.ctx, row);
    if (!row) return undefined;
    // the engine makes its checks as for a token that has not been used, and then returns the stored response
    const repeated = this.#model === 'RefreshToken' && repeatsRefresh(Provider.ctx, row.refresh_response);
    return toPayload(repeated ? { ...row, consumed_at: null } : row, presented);
  }
}

const payloadOf = ([row]: readonly Stored[], presented: string | undefined): AdapterPayload | undefined => row && toPayload(row, presented);

/** The key of a record, where it comes from a record of ours and not from whoever sent the request: on the way back from an interaction. */
const isKey = (model: string, id: string): boolean =>
  rememberedByKey.has(model) && isRecordKey(id) && waysBack.has(Provider.ctx?.oidc.route ?? '');
const waysBack = new Set(['resume', 'device_resume']);
