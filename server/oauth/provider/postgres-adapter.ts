import { LockMode } from '@mikro-orm/core';
import { errors, Provider, type Adapter, type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../../database/queries/insert-if-absent.ts';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import {
  hasRecordIdHashPrefix,
  storageIdFromPlainOrHashedId,
  storageIdFromClientProvidedId,
  modelNamesWithGrant,
  hashSecretRecordId,
  storedRefreshResponseModelName,
  type StoredOauthRecord,
  adapterPayloadFromOauthRecord,
  oauthRecordFromAdapterPayload,
} from '../storage/oauth-record-mapping.ts';
import {
  lockGrantOfRecord,
  markRecordConsumed,
  markConsumedAndKeepUntilGrantExpires,
  selectAndLockRecordWithGrantAndUser,
  selectRecordByKey,
  upsertOauthRecord,
  type OauthRecordLookupKey,
} from './select-lock-and-upsert-oauth-records.sql.ts';

/** Single-use records. A lookup locks the record, so that the second of two concurrent requests sees the first request's result. */
const singleUseModels = new Set(['AuthorizationCode', 'DeviceCode', 'Interaction', 'PushedAuthorizationRequest', 'RefreshToken']);
/** Record types that an interaction references by storage ID while the user is signing in. */
const referencedByInteractions = new Set(['DeviceCode', 'PushedAuthorizationRequest']);
/**
 * Record types that are stored after use until their grant expires, because reuse of an authorization code or device code revokes the
 * grant.
 */
const keptUntilGrantExpires = new Set(['AuthorizationCode', 'DeviceCode']);

type AdapterEm = Pick<EntityManager, 'getKysely' | 'isInTransaction' | 'createQueryBuilder' | 'findOne' | 'nativeDelete'>;

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
    const locked = this.#model === 'RefreshToken' && Provider.ctx ? getOauthRequestContext(Provider.ctx.req).lockedRefreshToken : undefined;
    if (locked?.token === id) return locked.payload;
    return isStorageId(this.#model, id) ? this.#load('id', id) : this.#load('id', storageIdFromClientProvidedId(this.#model, id), id);
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#load('uid', uid);
  }

  async findByUserCode(code: string): Promise<AdapterPayload | undefined> {
    const found = await this.#load('userCode', hashSecretRecordId(code));
    return found && { ...found, userCode: code };
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    this.#invalidatePrefetchedGrant();
    const record = oauthRecordFromAdapterPayload(this.#model, id, payload, expiresIn);
    if (this.#model !== 'ReplayDetection') {
      const { grantId, userCode, uid, accountId, clientId, expiresAt } = record;
      return upsertOauthRecord(this.#em, [record.model, record.id, record.payload, grantId, userCode, uid, accountId, clientId, expiresAt]);
    }
    // oidc-provider checks a client assertion before it checks a DPoP proof.
    const assertion = Provider.ctx && getOauthRequestContext(Provider.ctx.req).clientAssertion;
    const isAssertion = assertion !== undefined && assertion.record === undefined;
    // The second of two concurrent requests with the same assertion or DPoP proof waits for the first request and then finds its record.
    if (!(await insertIfAbsent(this.#em, OauthRecord, record)))
      throw isAssertion
        ? new errors.InvalidClientAuth('client assertion tokens must only be used once')
        : new errors.InvalidGrant('DPoP proof JWT Replay detected');
    if (isAssertion) assertion.record = record;
  }

  async consume(id: string): Promise<void> {
    const mark = keptUntilGrantExpires.has(this.#model) ? markConsumedAndKeepUntilGrantExpires : markRecordConsumed;
    await mark(this.#em, [this.#model, storageIdFromPlainOrHashedId(this.#model, id), new Date()]);
  }

  async destroy(id: string): Promise<void> {
    this.#invalidatePrefetchedGrant();
    await this.#em.nativeDelete(OauthRecord, { model: this.#model, id: storageIdFromPlainOrHashedId(this.#model, id) });
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const models = this.#model === 'RefreshToken' ? [this.#model, storedRefreshResponseModelName] : [this.#model];
    await this.#em.nativeDelete(OauthRecord, { model: { $in: models }, grantId });
  }

  /** Discards the prefetched records if this adapter changes a grant. */
  #invalidatePrefetchedGrant(): void {
    if (this.#model === 'Grant' && Provider.ctx) getOauthRequestContext(Provider.ctx.req).prefetched = undefined;
  }

  async #load(key: OauthRecordLookupKey, value: string, presented?: string): Promise<AdapterPayload | undefined> {
    if (value.includes('\0')) return undefined; // PostgreSQL text cannot contain NUL, so no record can match
    const now = new Date();
    const parameters = [this.#model, value, now];
    if (!this.#em.isInTransaction()) return payloadFromRow(await selectRecordByKey[key](this.#em, parameters), presented);
    const context = Provider.ctx && getOauthRequestContext(Provider.ctx.req);
    const grant = this.#model === 'Grant' ? context?.prefetched?.grant : undefined;
    if (grant?.id === value) return adapterPayloadFromOauthRecord(grant, presented);
    // Locks the grant before the record, so that two requests that revoke the same grant cannot deadlock.
    if (modelNamesWithGrant.has(this.#model)) await lockGrantOfRecord[key](this.#em, [this.#model, value]);
    if (!singleUseModels.has(this.#model)) return payloadFromRow(await selectRecordByKey[key](this.#em, parameters), presented);
    if (!modelNamesWithGrant.has(this.#model)) {
      const record = await this.#findAndLock({ [key]: value }, now);
      return record ? adapterPayloadFromOauthRecord(record, presented) : undefined;
    }
    const [row] = await selectAndLockRecordWithGrantAndUser[key](this.#em, parameters);
    if (context) context.prefetched = row;
    return row && adapterPayloadFromOauthRecord(row, presented);
  }

  #findAndLock(key: Partial<Record<OauthRecordLookupKey, string>>, now: Date) {
    const where = { model: this.#model, ...key, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
    return this.#em.findOne(OauthRecord, where, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true });
  }
}

const payloadFromRow = ([row]: readonly StoredOauthRecord[], presented: string | undefined): AdapterPayload | undefined =>
  row && adapterPayloadFromOauthRecord(row, presented);

/**
 * Returns whether the ID is a storage ID from an interaction record, not an ID from the client. Storage IDs are used only when a flow
 * resumes after an interaction.
 */
const isStorageId = (model: string, id: string): boolean =>
  referencedByInteractions.has(model) && hasRecordIdHashPrefix(id) && resumeRoutes.has(Provider.ctx?.oidc.route ?? '');
const resumeRoutes = new Set(['resume', 'device_resume']);
