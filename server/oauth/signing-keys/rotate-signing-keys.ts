import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { recordAuditEvent, type Source } from '../../audit/record-audit-event.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { sealJwk } from './encrypted-jwk.ts';

// ES256 signs access tokens; RS256 is what OpenID Connect expects of an ID token unless told otherwise.
const algorithms = ['ES256', 'RS256'] as const;
type Algorithm = (typeof algorithms)[number];
type NewKey = { readonly algorithm: Algorithm; readonly kid: string; readonly sealed: string };

/** In seconds. */
export type RotationSchedule = {
  /** How long a key signs before the next one is made. */
  readonly every: number;
  /** How long a key is published before it signs: longer than any process or application keeps its copy of the key set. */
  readonly publishedBefore: number;
  /** How long a key stays published after its successor signs: longer than anything it signed is good for. */
  readonly publishedAfter: number;
};

const hours = 60 * 60;
export const rotationSchedule: RotationSchedule = { every: 90 * 24 * hours, publishedBefore: hours, publishedAfter: 2 * hours };

/** `at once`: a key has become known. What it signed is refused from now on, which applications notice. */
type When = 'due' | 'asked' | 'at once';

export type RotationOptions = {
  readonly schedule?: RotationSchedule;
  readonly when?: When;
  /** Who asked for it; nobody, when it was due. */
  readonly by?: { readonly source: Source; readonly actorId?: number | undefined; readonly clientId?: string | undefined };
};

export type Rotation = {
  readonly made: number;
  /** When the newest keys sign, or began to. */
  readonly signsFrom: Date;
  readonly previousRetireAt: Date;
};

// Readers go on meanwhile; of two processes that want to rotate, the second sees what the first did.
const oneAtATime = statement('lock_signing_keys', 'lock table signing_keys in share row exclusive mode');
const newestKeys = statement<{ algorithm: Algorithm; signs_from: Date | string }>(
  'newest_signing_keys',
  'select algorithm, max(signs_from) as signs_from from signing_keys group by algorithm',
);
const retire = statement('retire_signing_keys', 'update signing_keys set retires_at = $2 where algorithm = $1 and retires_at is null');
const insert = statement(
  'insert_signing_key',
  `insert into signing_keys (kid, algorithm, encrypted_jwk, created_at, signs_from) values ($1, $2, $3, $4, $5)`,
);
const forgetRetired = statement('forget_retired_signing_keys', 'delete from signing_keys where retires_at <= $1');
const forgetAll = statement('forget_signing_keys', 'delete from signing_keys');

/** One of each algorithm, to be put among the others; made before any transaction begins, because it takes its time. */
export const newSigningKeys = (encryptionKey: Buffer): Promise<NewKey[]> =>
  Promise.all(algorithms.map((algorithm) => newKey(algorithm, encryptionKey)));

/**
 * Makes the next key of every algorithm whose newest one is due to be followed, or of all of them when told so.
 * A new key is published first, signs later, and its predecessor goes when nothing it signed is good any more.
 * The first keys of an installation sign at once.
 */
export async function rotateSigningKeys(em: Em, encryptionKey: Buffer, now: Date, options: RotationOptions = {}): Promise<Rotation> {
  const made = await newSigningKeys(encryptionKey);
  return em.fork().transactional((inner) => putSigningKeys(inner, made, now, options));
}

/** In a transaction. */
export async function putSigningKeys(em: Em, made: readonly NewKey[], now: Date, options: RotationOptions = {}): Promise<Rotation> {
  const { schedule = rotationSchedule, when = 'due', by } = options;
  await oneAtATime(em, []);
  if (when === 'at once') await forgetAll(em, []);
  else await forgetRetired(em, [now]);
  const newest = new Map((await newestKeys(em, [])).map((row) => [row.algorithm, new Date(row.signs_from)]));
  const due = made.filter(({ algorithm }) => isDue(newest.get(algorithm), now, schedule, when));
  for (const { algorithm, kid, sealed } of due) {
    const signsFrom = newest.has(algorithm) ? later(now, schedule.publishedBefore) : now;
    await retire(em, [algorithm, later(signsFrom, schedule.publishedAfter)]);
    await insert(em, [kid, algorithm, sealed, now, signsFrom]);
    newest.set(algorithm, signsFrom);
  }
  if (due.length > 0) {
    const event = { action: 'signing_key.rotated', actorId: by?.actorId, clientId: by?.clientId } as const;
    const details = { keys: due.map(({ kid }) => kid), when };
    await recordAuditEvent(em, by?.source ?? { ip: null, userAgent: null }, { ...event, details }, now);
  }
  const signsFrom = new Date(Math.max(...[...newest.values()].map(Number)));
  return { made: due.length, signsFrom, previousRetireAt: when === 'at once' ? now : later(signsFrom, schedule.publishedAfter) };
}

/** One that is published and does not sign yet is enough: commands given twice do not pile up keys. */
export function isDue(newestSignsFrom: Date | undefined, now: Date, { every }: RotationSchedule, when: When = 'due'): boolean {
  if (newestSignsFrom === undefined) return true;
  return newestSignsFrom <= now && (when !== 'due' || later(newestSignsFrom, every) <= now);
}

const later = (moment: Date, seconds: number): Date => new Date(moment.getTime() + seconds * 1000);

async function newKey(algorithm: Algorithm, encryptionKey: Buffer): Promise<NewKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { algorithm, kid, sealed: sealJwk({ ...jwk, kid, alg: algorithm, use: 'sig' }, encryptionKey, kid) };
}
