import { idTokenSigningAlgorithms } from '@mandate/contract';
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { listAllSigningKeys, getNewestKeySigningStartByAlgorithm, type SigningKeyEntity } from './list-signing-keys.ts';
import {
  isSigningKeyRotationDue,
  rotateSigningKeysIfDueOrRequested,
  type KeyRotationSchedule,
  defaultSigningKeyRotationSchedule,
} from './rotate-signing-keys.ts';
import { decryptJwk, toPublicJwk } from './encrypted-jwk.ts';

/** The keys that are currently published. The same object is returned as long as the keys and their order do not change. */
export type PublishedKeySet = { readonly keys: readonly JWK[]; readonly find: JWTVerifyGetKey };
type Key = { readonly jwk: JWK; readonly signsFrom: Date; readonly retiresAt: Date | null };

/** Maximum age of cached keys, in milliseconds: well below the time between publishing a key and first signing with it. */
const reloadAfterMs = 15_000;
/**
 * Minimum interval between reloads caused by tokens with an unknown `kid`, in milliseconds, so that a flood of such tokens does not cause a
 * flood of reloads.
 */
const unknownKidReloadMs = 1_000;

export type SigningKeyCacheOptions = { readonly schedule?: KeyRotationSchedule; readonly reloadAfterMs?: number };

/**
 * Caches this installation's signing keys. Every process notices a new key before that key is used for signing. Keys are reloaded on demand
 * when the cache is stale; a reload also performs any rotation that is due.
 */
export class RotatingSigningKeyCache {
  readonly #em: EntityManager;
  readonly #encryptionKey: Buffer;
  readonly #schedule: KeyRotationSchedule;
  readonly #reloadAfterMs: number;
  #keys: readonly Key[] = [];
  #set: PublishedKeySet = createKeySet([]);
  /** Time at which the key set changes next, unless the keys are reloaded earlier. */
  #changesAt = minDate;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(em: EntityManager, encryptionKey: Buffer, options: SigningKeyCacheOptions = {}) {
    this.#em = em;
    this.#encryptionKey = encryptionKey;
    this.#schedule = options.schedule ?? defaultSigningKeyRotationSchedule;
    this.#reloadAfterMs = options.reloadAfterMs ?? reloadAfterMs;
  }

  /** Returns the published keys. For each algorithm, the current signing key comes before past and future keys. */
  async current(): Promise<PublishedKeySet> {
    await this.#reloadIfOlderThan(this.#reloadAfterMs);
    const now = new Date();
    if (now < this.#changesAt) return this.#set;
    const published = this.#keys.filter(({ retiresAt }) => retiresAt === null || retiresAt > now);
    const signing = published.filter(({ signsFrom }) => signsFrom <= now);
    const keys = [...signing, ...published.filter(({ signsFrom }) => signsFrom > now)].map(({ jwk }) => jwk);
    if (keyIdsOf(keys) !== keyIdsOf(this.#set.keys)) this.#set = createKeySet(keys);
    this.#changesAt = earliest(
      this.#keys.flatMap(({ signsFrom, retiresAt }) => [signsFrom, retiresAt ?? maxDate]).filter((date) => date > now),
    );
    return this.#set;
  }

  /** Invalidates the cache, so that the next use reloads the keys. */
  invalidate(): void {
    this.#loadedAt = Number.NEGATIVE_INFINITY;
  }

  /** Finds the public key by a token's `kid`. */
  readonly findVerificationKey: JWTVerifyGetKey = async (header, token) => {
    try {
      return await (await this.current()).find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#reloadIfOlderThan(unknownKidReloadMs);
      return (await this.current()).find(header, token);
    }
  };

  async #reloadIfOlderThan(age: number): Promise<void> {
    if (performance.now() - this.#loadedAt < age) return;
    await (this.#loading ??= this.#load().finally(() => (this.#loading = undefined)));
  }

  async #load(): Promise<void> {
    // The keys are loaded outside the request's transaction, because a rollback of that transaction must not undo a rotation.
    let keys = await listAllSigningKeys(this.#em);
    if (this.#isRotationDue(keys)) {
      await rotateSigningKeysIfDueOrRequested(this.#em, this.#encryptionKey, new Date(), { schedule: this.#schedule });
      keys = await listAllSigningKeys(this.#em);
    }
    this.#keys = keys.map(({ kid, encryptedJwk, signsFrom, retiresAt = null }) => ({
      jwk: decryptJwk(encryptedJwk, this.#encryptionKey, kid),
      signsFrom,
      retiresAt,
    }));
    this.#loadedAt = performance.now();
    this.#changesAt = minDate;
  }

  #isRotationDue(keys: readonly SigningKeyEntity[]): boolean {
    const newest = getNewestKeySigningStartByAlgorithm(keys);
    return (
      newest.size < idTokenSigningAlgorithms.length ||
      [...newest.values()].some((signsFrom) => isSigningKeyRotationDue(signsFrom, new Date(), this.#schedule))
    );
  }
}

const [minDate, maxDate] = [new Date(-8.64e15), new Date(8.64e15)];
const earliest = (dates: readonly Date[]): Date => new Date(Math.min(maxDate.getTime(), ...dates.map((date) => date.getTime())));

const createKeySet = (keys: readonly JWK[]): PublishedKeySet => ({ keys, find: createLocalJWKSet({ keys: keys.map(toPublicJwk) }) });
const keyIdsOf = (keys: readonly JWK[]): string => keys.map(({ kid }) => kid).join(' ');

/** Loads the keys, and creates the first keys in a new database. Processes that start concurrently end up with the same keys. */
export async function createCacheWithLoadedOrNewSigningKeys(
  em: EntityManager,
  encryptionKey: Buffer,
  options: SigningKeyCacheOptions = {},
): Promise<RotatingSigningKeyCache> {
  const keys = new RotatingSigningKeyCache(em, encryptionKey, options);
  await keys.current();
  return keys;
}
