import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { recordAuditEvent, type RequestSource } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { encryptJwk } from './encrypted-jwk.ts';

// ES256 signs access tokens; RS256 is the OpenID Connect default for ID tokens.
const algorithms = ['ES256', 'RS256'] as const;
type Algorithm = (typeof algorithms)[number];
type NewKey = { readonly algorithm: Algorithm; readonly kid: string; readonly encryptedJwk: string };

/** Key rotation intervals, in seconds. */
export type KeyRotationSchedule = {
  /** Time for which a key is used for signing before its successor is created. */
  readonly every: number;
  /** Time between publishing a key and first signing with it; must exceed the time for which any process or client caches the key set. */
  readonly publishedBefore: number;
  /**
   * Time for which a key stays published after its successor starts to sign; must exceed the lifetime of every token signed with the key.
   */
  readonly publishedAfter: number;
};

const hours = 60 * 60;
export const defaultRotationSchedule: KeyRotationSchedule = { every: 90 * 24 * hours, publishedBefore: hours, publishedAfter: 2 * hours };

/** `at once` is for a compromised key: all tokens signed with the key are rejected immediately, which clients notice. */
type RotationTrigger = 'due' | 'asked' | 'at once';

export type KeyRotationOptions = {
  readonly schedule?: KeyRotationSchedule;
  readonly when?: RotationTrigger;
  /** Actor that requested the rotation, for the audit log; undefined for a scheduled rotation. */
  readonly by?: { readonly source: RequestSource; readonly actorId?: number | undefined; readonly clientId?: string | undefined };
};

export type KeyRotationResult = {
  readonly made: number;
  /** Time from which the newest keys sign; may be in the past. */
  readonly signsFrom: Date;
  readonly previousRetireAt: Date;
};

// Does not block readers. If two processes rotate concurrently, the second process waits and then sees the first one's result.
const lockSigningKeys = prepareStatement('lock_signing_keys', 'lock table signing_keys in share row exclusive mode');
const newestKeys = prepareStatement<{ algorithm: Algorithm; signs_from: Date | string }>(
  'find_newest_signing_keys',
  'select algorithm, max(signs_from) as signs_from from signing_keys group by algorithm',
);
const retirePredecessor = prepareStatement(
  'retire_signing_keys',
  'update signing_keys set retires_at = $2 where algorithm = $1 and retires_at is null',
);
const insertKey = prepareStatement(
  'insert_signing_key',
  `insert into signing_keys (kid, algorithm, encrypted_jwk, created_at, signs_from) values ($1, $2, $3, $4, $5)`,
);
const deleteRetired = prepareStatement('delete_retired_signing_keys', 'delete from signing_keys where retires_at <= $1');
const deleteAll = prepareStatement('delete_signing_keys', 'delete from signing_keys');

/** Generates one key for each algorithm. Call this before the transaction starts, because key generation is slow. */
export const generateSigningKeys = (encryptionKey: Buffer): Promise<NewKey[]> =>
  Promise.all(algorithms.map((algorithm) => generateKey(algorithm, encryptionKey)));

/**
 * Creates the next key of every algorithm whose rotation is due, or of all algorithms on request. A new key is published before it is used
 * for signing. The previous key is removed when all tokens signed with it have expired. An installation's first keys sign immediately.
 */
export async function rotateSigningKeys(
  em: EntityManager,
  encryptionKey: Buffer,
  now: Date,
  options: KeyRotationOptions = {},
): Promise<KeyRotationResult> {
  const newKeys = await generateSigningKeys(encryptionKey);
  return em.fork().transactional((inner) => insertDueSigningKeys(inner, newKeys, now, options));
}

/** Inserts the keys whose rotation is due and retires their predecessors. Call this in a transaction. */
export async function insertDueSigningKeys(
  em: EntityManager,
  newKeys: readonly NewKey[],
  now: Date,
  options: KeyRotationOptions = {},
): Promise<KeyRotationResult> {
  const { schedule = defaultRotationSchedule, when = 'due', by } = options;
  await lockSigningKeys(em, []);
  if (when === 'at once') await deleteAll(em, []);
  else await deleteRetired(em, [now]);
  const newest = new Map((await newestKeys(em, [])).map((row) => [row.algorithm, new Date(row.signs_from)]));
  const due = newKeys.filter(({ algorithm }) => isRotationDue(newest.get(algorithm), now, schedule, when));
  for (const { algorithm, kid, encryptedJwk } of due) {
    const signsFrom = newest.has(algorithm) ? addSeconds(now, schedule.publishedBefore) : now;
    await retirePredecessor(em, [algorithm, addSeconds(signsFrom, schedule.publishedAfter)]);
    await insertKey(em, [kid, algorithm, encryptedJwk, now, signsFrom]);
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
export function isRotationDue(
  newestSignsFrom: Date | undefined,
  now: Date,
  { every }: KeyRotationSchedule,
  when: RotationTrigger = 'due',
): boolean {
  if (newestSignsFrom === undefined) return true;
  return newestSignsFrom <= now && (when !== 'due' || addSeconds(newestSignsFrom, every) <= now);
}

const addSeconds = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000);

async function generateKey(algorithm: Algorithm, encryptionKey: Buffer): Promise<NewKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { algorithm, kid, encryptedJwk: encryptJwk({ ...jwk, kid, alg: algorithm, use: 'sig' }, encryptionKey, kid) };
}
