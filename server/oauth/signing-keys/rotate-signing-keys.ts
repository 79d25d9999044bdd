import { idTokenSigningAlgorithms } from '@mandate/contract';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { recordAuditEvent, type RequestSource } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { acquireAdvisoryLockForNumber } from '../../database/queries/acquire-advisory-lock.sql.ts';
import { encryptJwk } from './encrypted-jwk.ts';
import { listAllSigningKeys, getNewestKeySigningStartByAlgorithm, type SigningKeyAlgorithm } from './list-signing-keys.ts';
import { SigningKey } from './signing-key.entity.ts';

type NewKey = { readonly algorithm: SigningKeyAlgorithm; readonly kid: string; readonly encryptedJwk: string };

/** Key rotation intervals, in seconds. */
export type KeyRotationSchedule = {
  /** How long a key is used for signing before its successor is created. */
  readonly every: number;
  /**
   * Time between publishing a key and first signing with it; must exceed the maximum time that any process or client caches the key set.
   */
  readonly publishedBefore: number;
  /**
   * How long a key stays published after its successor is first used for signing; must exceed the lifetime of every token signed with the
   * key.
   */
  readonly publishedAfter: number;
};

const hours = 60 * 60;
export const defaultSigningKeyRotationSchedule: KeyRotationSchedule = {
  every: 90 * 24 * hours,
  publishedBefore: hours,
  publishedAfter: 2 * hours,
};

/** Use `at once` for a compromised key: all tokens signed with it are rejected immediately, so clients must obtain new tokens. */
type RotationTrigger = 'due' | 'asked' | 'at once';

export type KeyRotationOptions = {
  readonly schedule?: KeyRotationSchedule;
  readonly when?: RotationTrigger;
  /** Actor that requested the rotation, for the audit log; undefined for a scheduled rotation. */
  readonly by?: { readonly source: RequestSource; readonly actorId?: number | undefined; readonly clientId?: string | undefined };
};

export type KeyRotationResult = {
  readonly made: number;
  /** When signing with the newest keys starts; may be in the past. */
  readonly signsFrom: Date;
  readonly previousRetireAt: Date;
};

/**
 * Identifies the lock that serializes rotations. Because of the lock, each rotation sees the keys that a concurrent rotation has inserted.
 */
const rotationLockId = 20_261_123;

/**
 * Generates one key for each algorithm. ES256 is also used for access tokens. Call this before the transaction starts, because key
 * generation is slow.
 */
export const generateSigningKeys = (encryptionKey: Buffer): Promise<NewKey[]> =>
  Promise.all(idTokenSigningAlgorithms.map((algorithm) => generateKey(algorithm, encryptionKey)));

/**
 * Creates the next key of every algorithm whose rotation is due, or of every algorithm if a rotation was requested. A new key is published
 * before it is used for signing. The previous key is removed when all tokens signed with it have expired. An installation's first keys are
 * used for signing immediately.
 */
export async function rotateSigningKeysIfDueOrRequested(
  em: EntityManager,
  encryptionKey: Buffer,
  now: Date,
  options: KeyRotationOptions = {},
): Promise<KeyRotationResult> {
  const newKeys = await generateSigningKeys(encryptionKey);
  return em.fork().transactional((inner) => insertDueSigningKeysAndRetirePrevious(inner, newKeys, now, options));
}

/** Inserts the new keys of the algorithms whose rotation is due, and retires the previous keys. Call this in a transaction. */
export async function insertDueSigningKeysAndRetirePrevious(
  em: EntityManager,
  newKeys: readonly NewKey[],
  now: Date,
  options: KeyRotationOptions = {},
): Promise<KeyRotationResult> {
  const { schedule = defaultSigningKeyRotationSchedule, when = 'due', by } = options;
  await acquireAdvisoryLockForNumber(em, rotationLockId);
  await em.nativeDelete(SigningKey, when === 'at once' ? {} : { retiresAt: { $lte: now } });
  const newest = getNewestKeySigningStartByAlgorithm(await listAllSigningKeys(em));
  const due = newKeys.filter(({ algorithm }) => isSigningKeyRotationDue(newest.get(algorithm), now, schedule, when));
  for (const { algorithm, kid, encryptedJwk } of due) {
    const signsFrom = newest.has(algorithm) ? addSeconds(now, schedule.publishedBefore) : now;
    await em.nativeUpdate(SigningKey, { algorithm, retiresAt: null }, { retiresAt: addSeconds(signsFrom, schedule.publishedAfter) });
    await em.insert(SigningKey, { kid, algorithm, encryptedJwk, createdAt: now, signsFrom });
    newest.set(algorithm, signsFrom);
  }
  if (due.length > 0) {
    const event = { action: 'signing_key.rotated', actorId: by?.actorId, clientId: by?.clientId } as const;
    const details = { keys: due.map(({ kid }) => kid), when };
    await recordAuditEvent(em, by?.source ?? { ip: null, userAgent: null }, { ...event, details }, now);
  }
  const signsFrom = new Date(Math.max(...[...newest.values()].map(Number)));
  return { made: due.length, signsFrom, previousRetireAt: when === 'at once' ? now : addSeconds(signsFrom, schedule.publishedAfter) };
}

/**
 * Returns whether a rotation is due. No rotation is due while a published key is not yet used for signing, so that repeated commands do not
 * accumulate keys.
 */
export function isSigningKeyRotationDue(
  newestSignsFrom: Date | undefined,
  now: Date,
  { every }: KeyRotationSchedule,
  when: RotationTrigger = 'due',
): boolean {
  if (newestSignsFrom === undefined) return true;
  return newestSignsFrom <= now && (when !== 'due' || addSeconds(newestSignsFrom, every) <= now);
}

const addSeconds = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000);

async function generateKey(algorithm: SigningKeyAlgorithm, encryptionKey: Buffer): Promise<NewKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { algorithm, kid, encryptedJwk: encryptJwk({ ...jwk, kid, alg: algorithm, use: 'sig' }, encryptionKey, kid) };
}
