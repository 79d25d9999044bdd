import { sql } from 'kysely';
import { errors, Provider, type Adapter, type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import type { Em } from '../database/orm.ts';
import { isRecordKey, keyOfFound, keyOfPresented, ofAGrant, recordKey, type Row, toPayload, toRow } from './oauth-record.ts';

/** Good for one use: looking one up locks it, so that of two requests the second sees what the first did. */
const usedOnce = new Set(['AuthorizationCode', 'DeviceCode', 'Interaction', 'PushedAuthorizationRequest', 'RefreshToken']);
/** What an interaction remembers by its key while the person signs in. */
const rememberedByKey = new Set(['DeviceCode', 'PushedAuthorizationRequest']);
/** A spent code is remembered for as long as what came of it can live: whoever comes with it later ends all of that. */
const outlives = new Set(['AuthorizationCode', 'DeviceCode']);
const grantEnd = sql<Date>`select g.expires_at from oauth_records g where g.model = 'Grant' and g.id = spent.grant_id`;

type StoreEm = Pick<Em, 'getKysely' | 'isInTransaction'>;

/**
 * oidc-provider's storage. `em` is the ORM's own: inside token-transaction.ts it is that transaction.
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

  /** Resolved at each call: the pool, or the transaction. */
  get #records() {
    return this.#em.getKysely<{ oauth_records: Row }>();
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
    const row = toRow(this.#model, id, payload, expiresIn);
    const { consumed_at: _kept, user_code: _same, ...changed } = row;
    const insert = this.#records.insertInto('oauth_records').values(row);
    if (this.#model === 'ReplayDetection') {
      // of two requests that come with one proof, the second waits for the first, and finds it kept
      const kept = await insert
        .onConflict((conflict) => conflict.columns(['model', 'id']).doNothing())
        .returning('id')
        .execute();
      if (kept.length === 0) throw new errors.InvalidGrant('DPoP proof JWT Replay detected');
      return;
    }
    await insert.onConflict((conflict) => conflict.columns(['model', 'id']).doUpdateSet(changed)).execute();
  }

  async consume(id: string): Promise<void> {
    const kept = outlives.has(this.#model) ? { expires_at: sql<Date>`coalesce((${grantEnd}), spent.expires_at)` } : {};
    await this.#records
      .updateTable('oauth_records as spent')
      .set({ consumed_at: new Date(), ...kept })
      .where('model', '=', this.#model)
      .where('id', '=', keyOfFound(this.#model, id))
      .execute();
  }

  async destroy(id: string): Promise<void> {
    await this.#records
      .deleteFrom('oauth_records')
      .where('model', '=', this.#model)
      .where('id', '=', keyOfFound(this.#model, id))
      .execute();
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#records.deleteFrom('oauth_records').where('model', '=', this.#model).where('grant_id', '=', grantId).execute();
  }

  async #load(column: 'id' | 'uid' | 'user_code', value: string, presented?: string): Promise<AdapterPayload | undefined> {
    if (value.includes('\0')) return undefined; // PostgreSQL's text cannot hold it, so nothing is called that
    const spending = this.#em.isInTransaction();
    if (spending && ofAGrant.has(this.#model)) await this.#lockGrantOf(column, value);
    let query = this.#records
      .selectFrom('oauth_records')
      .select(['model', 'id', 'payload', 'consumed_at', 'expires_at'])
      .where('model', '=', this.#model)
      .where(column, '=', value)
      .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', new Date())]));
    if (spending && usedOnce.has(this.#model)) query = query.forUpdate();
    const row = await query.executeTakeFirst();
    return row && toPayload(row, presented);
  }

  /** The grant comes first, whatever of it is asked for: of two requests that revoke it, neither can hold what the other waits for. */
  async #lockGrantOf(column: 'id' | 'uid' | 'user_code', value: string): Promise<void> {
    await this.#records
      .selectFrom('oauth_records')
      .select('id')
      .where('model', '=', 'Grant')
      .where('id', '=', (of) =>
        of.selectFrom('oauth_records').select('grant_id').where('model', '=', this.#model).where(column, '=', value),
      )
      .forUpdate()
      .execute();
  }
}

/** The key of a record, where it comes from a record of ours and not from whoever sent the request: on the way back from an interaction. */
const isKey = (model: string, id: string): boolean =>
  rememberedByKey.has(model) && isRecordKey(id) && waysBack.has(Provider.ctx?.oidc.route ?? '');
const waysBack = new Set(['resume', 'device_resume']);
