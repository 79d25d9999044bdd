import { createHash } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { gatheredStatement } from '../database/gathered-statement.ts';
import type { Em } from '../database/orm.ts';
import { networkOf } from '../http/client-address.ts';

/** Somebody guesses, or it looks like it. */
export class TooManyAttemptsError extends Error {
  override readonly name = 'TooManyAttemptsError';
  readonly retryAfterSeconds: number;

  constructor(milliseconds: number) {
    super('too many attempts');
    this.retryAfterSeconds = Math.max(1, Math.ceil(milliseconds / 1000));
  }
}

const minutes = 60;

/** How many attempts in how many seconds: about one thing that is guessed at, and from one network about any of them. */
const policies = {
  password: { one: { points: 10, duration: 15 * minutes }, network: { points: 30, duration: 15 * minutes } },
  secondFactor: { one: { points: 10, duration: 15 * minutes }, network: { points: 30, duration: 15 * minutes } },
  clientSecret: { one: { points: 10, duration: 15 * minutes }, network: { points: 30, duration: 15 * minutes } },
  userCode: { one: { points: 10, duration: 10 * minutes }, network: { points: 30, duration: 10 * minutes } },
  /** Messages to one address: not to be used to fill somebody's mailbox. */
  mail: { one: { points: 5, duration: 60 * minutes }, network: { points: 30, duration: 60 * minutes } },
} as const;

export type AttemptKind = keyof typeof policies;

export type AttemptLimits = {
  /**
   * Counts an attempt before it is made, so that of many at once no more than allowed are. `what` is guessed at, whether it
   * exists or not. Gives what to call when the attempt was right: then it does not count.
   * @throws {TooManyAttemptsError}
   */
  begin(kind: AttemptKind, what: string, address: string | undefined): Promise<() => Promise<void>>;
  /** For what is asked too often to be counted each time: refuses when the failures counted by `begin` are too many already. */
  refuseGuesser(kind: AttemptKind, what: string, address: string | undefined): Promise<void>;
};

/** When the last of two limits ends that is reached, in milliseconds since 1970. */
const reached = gatheredStatement<{ ends_at: number | null }>(
  'attempts_reached',
  ['text', 'int', 'text', 'int'],
  'select max(expire) as ends_at from attempts where (key = $1 and points >= $2) or (key = $3 and points >= $4)',
);

/** Kept in the database, so that every process counts together. Not to be called inside a transaction, which may be undone. */
export function attemptLimits(em: Em): AttemptLimits {
  const storeClient = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await em.fork().getKysely().executeQuery(CompiledQuery.raw(text, values));
      return { rows, rowCount: rows.length };
    },
  };
  const limiter = (kind: AttemptKind, about: 'one' | 'network') =>
    new RateLimiterPostgres({
      ...policies[kind][about],
      keyPrefix: `${kind}.${about}`,
      storeClient,
      storeType: 'client',
      tableName: 'attempts',
      tableCreated: true,
      clearExpiredByTimeout: false,
    });
  const limiters = new Map<string, RateLimiterPostgres>();
  const counters = (kind: AttemptKind, what: string, address: string | undefined) =>
    (['one', 'network'] as const).map((about) => {
      const name = `${kind}.${about}`;
      const existing = limiters.get(name) ?? limiter(kind, about);
      limiters.set(name, existing);
      return { limiter: existing, key: about === 'one' ? digest(what) : networkOf(address) };
    });

  return {
    async begin(kind, what, address) {
      const counted = counters(kind, what, address);
      const results = [];
      for (const { limiter: one, key } of counted) results.push(await one.consume(key).catch(onlyLimited));
      refuse(results.filter((result) => result instanceof Refusal).map((result) => result.milliseconds));
      return async () => {
        for (const { limiter: one, key } of counted) await one.reward(key);
      };
    },
    async refuseGuesser(kind, what, address) {
      const limits = counters(kind, what, address).flatMap(({ limiter: one, key }) => [one.getKey(key), one.points]);
      const endsAt = (await reached(em, limits))?.ends_at ?? 0;
      if (endsAt > Date.now()) refuse([endsAt - Date.now()]);
    },
  };
}

/** No limits at all: only to see what goes wrong without them. */
export const unlimitedAttempts: AttemptLimits = {
  begin: async () => async () => undefined,
  refuseGuesser: async () => undefined,
};

class Refusal {
  readonly milliseconds: number;
  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
  }
}

/** It rejects with a result when there were too many attempts, and with an error when it is broken. */
function onlyLimited(reason: unknown): Refusal {
  if (reason instanceof RateLimiterRes) return new Refusal(reason.msBeforeNext);
  throw reason;
}

function refuse(waits: readonly number[]): void {
  if (waits.length > 0) throw new TooManyAttemptsError(Math.max(...waits));
}

/** What is guessed at may be an address or a code that works, and is not for the table to know. */
const digest = (what: string): string => createHash('sha256').update(what).digest('base64url');

const dueForSweep = 'delete from attempts where expire < $1';

/** Forgets what no longer counts; how many rows that were. */
export async function sweepAttempts(em: Em, now: Date): Promise<number> {
  const { numAffectedRows } = await em.getKysely().executeQuery(CompiledQuery.raw(dueForSweep, [now.getTime()]));
  return Number(numAffectedRows ?? 0);
}
