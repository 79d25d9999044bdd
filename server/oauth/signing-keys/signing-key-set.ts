import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { isDue, rotateSigningKeys, type RotationSchedule, rotationSchedule } from './rotate-signing-keys.ts';
import { openJwk, publicPart } from './encrypted-jwk.ts';

type Row = { kid: string; algorithm: string; encrypted_jwk: string; signs_from: Date | string; retires_at: Date | string | null };
/** The keys that are published at a moment; the same object for as long as they are the same keys in the same order. */
export type KeySet = { readonly keys: readonly JWK[]; readonly find: JWTVerifyGetKey };
type Key = { readonly jwk: JWK; readonly signsFrom: Date; readonly retiresAt: Date | null };

const readKeys = statement<Row>(
  'read_signing_keys',
  'select kid, algorithm, encrypted_jwk, signs_from, retires_at from signing_keys order by algorithm, signs_from desc, kid',
);

/** How long a process goes on with the keys it read, in milliseconds: well below the time that a key is published before it signs. */
const readAgainAfter = 15_000;
/** A token with an unknown `kid` has the keys read again, but not every one of a flood of them. */
const readAtMostEvery = 1_000;

export type SigningKeysOptions = { readonly schedule?: RotationSchedule; readonly readAgainAfter?: number };

/**
 * The keys of this installation, as they are in the database: every process of it knows of a change before it counts.
 * They are read when they are needed and what is known has become old; that is also when a rotation that is due takes place.
 */
export class SigningKeys {
  readonly #em: Em;
  readonly #encryptionKey: Buffer;
  readonly #schedule: RotationSchedule;
  readonly #readAgainAfter: number;
  #keys: readonly Key[] = [];
  #set: KeySet = keySet([]);
  /** Until when the set is what it is, unless the keys are read again. */
  #changesAt = always;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(em: Em, encryptionKey: Buffer, options: SigningKeysOptions = {}) {
    this.#em = em;
    this.#encryptionKey = encryptionKey;
    this.#schedule = options.schedule ?? rotationSchedule;
    this.#readAgainAfter = options.readAgainAfter ?? readAgainAfter;
  }

  /** What the engine signs with, and publishes: of each algorithm the one that signs, before those that are to come and those that did. */
  async current(): Promise<KeySet> {
    await this.#readIfOlderThan(this.#readAgainAfter);
    const now = new Date();
    if (now < this.#changesAt) return this.#set;
    const published = this.#keys.filter(({ retiresAt }) => retiresAt === null || retiresAt > now);
    const signing = published.filter(({ signsFrom }) => signsFrom <= now);
    const keys = [...signing, ...published.filter(({ signsFrom }) => signsFrom > now)].map(({ jwk }) => jwk);
    if (namesOf(keys) !== namesOf(this.#set.keys)) this.#set = keySet(keys);
    this.#changesAt = earliest(this.#keys.flatMap(({ signsFrom, retiresAt }) => [signsFrom, retiresAt ?? never]).filter((at) => at > now));
    return this.#set;
  }

  /** Whatever they are in the database counts from now on. */
  readAgain(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  /** Finds the public key a token names. */
  readonly verify: JWTVerifyGetKey = async (header, token) => {
    try {
      return await (await this.current()).find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#readIfOlderThan(readAtMostEvery);
      return (await this.current()).find(header, token);
    }
  };

  async #readIfOlderThan(age: number): Promise<void> {
    if (performance.now() - this.#readAt < age) return;
    await (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
  }

  async #read(): Promise<void> {
    // apart from any transaction of the request, whose rollback must not take a new key with it
    let rows = await readKeys(this.#em, []);
    if (this.#rotationIsDue(rows)) {
      await rotateSigningKeys(this.#em, this.#encryptionKey, new Date(), { schedule: this.#schedule });
      rows = await readKeys(this.#em, []);
    }
    this.#keys = rows.map((row) => ({
      jwk: openJwk(row.encrypted_jwk, this.#encryptionKey, row.kid),
      signsFrom: new Date(row.signs_from),
      retiresAt: row.retires_at === null ? null : new Date(row.retires_at),
    }));
    this.#readAt = performance.now();
    this.#changesAt = always;
  }

  #rotationIsDue(rows: readonly Row[]): boolean {
    const newest = new Map(rows.toReversed().map((row) => [row.algorithm, new Date(row.signs_from)]));
    return newest.size < 2 || [...newest.values()].some((signsFrom) => isDue(signsFrom, new Date(), this.#schedule));
  }
}

const [always, never] = [new Date(-8.64e15), new Date(8.64e15)];
const earliest = (moments: readonly Date[]): Date => new Date(Math.min(never.getTime(), ...moments.map((at) => at.getTime())));

const keySet = (keys: readonly JWK[]): KeySet => ({ keys, find: createLocalJWKSet({ keys: keys.map(publicPart) }) });
const namesOf = (keys: readonly JWK[]): string => keys.map(({ kid }) => kid).join(' ');

/** Reads the keys, and makes the first ones where there are none: processes that start together end up with the same. */
export async function openSigningKeys(em: Em, encryptionKey: Buffer, options: SigningKeysOptions = {}): Promise<SigningKeys> {
  const keys = new SigningKeys(em, encryptionKey, options);
  await keys.current();
  return keys;
}
