import { createHash } from 'node:crypto';
import { CompiledQuery } from 'kysely';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { gatheredStatement } from '../../database/queries/batched-statement.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { networkOf } from '../../http/request/client-network.ts';

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
const hours = 60 * minutes;

type Limit = { readonly points: number; readonly duration: number };
type Policy = {
  /** Attempts at one target from one source: a network, or a browser that has signed in to the account before. */
  readonly source: Limit;
  /** Attempts at any target from one network. */
  readonly network: Limit;
  /**
   * Attempts at one target from all networks together. Above it, attempts are still allowed, because otherwise any attacker could
   * lock the owner out; the caller makes them harder instead. `refuses` is for targets that have no owner to lock out.
   */
  readonly ceiling?: Limit & { readonly refuses?: true };
};

const guesses = { source: { points: 10, duration: 15 * minutes }, network: { points: 30, duration: 15 * minutes } };

/** Points per duration in seconds. */
const policies = {
  // NIST SP 800-63B-4 section 3.2.2 allows at most 100 consecutive failures per account
  password: { ...guesses, ceiling: { points: 100, duration: 24 * hours } },
  secondFactor: { ...guesses, ceiling: { points: 100, duration: 24 * hours } },
  /** Codes that were e-mailed to confirm a sign-in. */
  emailCode: guesses,
  /** Nothing can be guessed, but each attempt costs a signature check. */
  passkey: guesses,
  /** Random secrets of 256 bits need no ceiling. */
  clientSecret: guesses,
  userCode: { source: { points: 10, duration: 10 * minutes }, network: { points: 30, duration: 10 * minutes } },
  /**
   * Messages to one address. Above the ceiling the owner of the address cannot request another one for an hour, but has received
   * twenty messages by then, each with a valid link.
   */
  mail: {
    source: { points: 5, duration: 1 * hours },
    network: { points: 30, duration: 1 * hours },
    ceiling: { points: 20, duration: 1 * hours, refuses: true },
  },
  /** Sign-in codes to one account, which only a correct password requests. */
  codeMail: {
    source: { points: 5, duration: 1 * hours },
    network: { points: 30, duration: 1 * hours },
    ceiling: { points: 20, duration: 1 * hours, refuses: true },
  },
  /** Open registrations of applications by one network. */
  registration: { source: { points: 20, duration: 1 * hours }, network: { points: 20, duration: 1 * hours } },
  /** Fetches of client ID metadata documents for one network. */
  metadataDocument: { source: { points: 30, duration: 15 * minutes }, network: { points: 30, duration: 15 * minutes } },
} as const satisfies Record<string, Policy>;

export type AttemptKind = keyof typeof policies;

/** Failures over all networks above which a sign-in must be confirmed. */
export const attemptsCeiling = { password: policies.password.ceiling.points, secondFactor: policies.secondFactor.ceiling.points };

/** Where an attempt comes from. */
export type AttemptSource = {
  /** The IP address of the client. */
  readonly address: string | undefined;
  /**
   * The ID of a browser that has signed in to the account before (`KnownBrowsers`). Its attempts are counted apart from those of its
   * network, so that guesses by others do not affect it, whether they share its network or not.
   */
  readonly knownBrowser?: string | undefined;
};

export type CountedAttempt = {
  /** By how many attempts the ceiling over all networks is exceeded; 0 while it is not, and for a known browser. */
  readonly aboveCeiling: number;
  /** Uncounts the attempt, because it was right. */
  succeed(): Promise<void>;
};

export type AttemptLimits = {
  /**
   * Counts an attempt before it is made, so that concurrent attempts cannot exceed a limit. A refused attempt counts only against
   * the limit that refused it: one network cannot exceed the ceiling alone.
   * @param target what is guessed at, whether it exists or not
   * @throws TooManyAttemptsError
   */
  begin(kind: AttemptKind, target: string, source: AttemptSource): Promise<CountedAttempt>;
  /** For requests that are too frequent to count each: refuses a source whose failures, counted by `begin`, reached a limit. */
  refuseGuesser(kind: AttemptKind, target: string, source: AttemptSource): Promise<void>;
};

/** When the last of two limits ends that is reached, in milliseconds since 1970. */
const reached = gatheredStatement<{ ends_at: number | null }>(
  'attempts_reached',
  ['text', 'int', 'text', 'int'],
  'select max(expire) as ends_at from attempts where (key = $1 and points >= $2) or (key = $3 and points >= $4)',
);

type Scope = keyof Policy;
type Counter = { readonly limiter: RateLimiterPostgres; readonly key: string; readonly refuses: boolean };

/** Kept in the database, so that every process counts together. Not to be called inside a transaction, which may be undone. */
export function attemptLimits(em: Em): AttemptLimits {
  const storeClient = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await em.fork().getKysely().executeQuery(CompiledQuery.raw(text, values));
      return { rows, rowCount: rows.length };
    },
  };
  const limiters = new Map<string, RateLimiterPostgres>();
  const limiterOf = (keyPrefix: string, { points, duration }: Limit): RateLimiterPostgres => {
    const options = { keyPrefix, points, duration, storeClient, storeType: 'client', tableName: 'attempts' };
    const limiter = limiters.get(keyPrefix) ?? new RateLimiterPostgres({ ...options, tableCreated: true, clearExpiredByTimeout: false });
    limiters.set(keyPrefix, limiter);
    return limiter;
  };
  const countersOf = (kind: AttemptKind, target: string, { address, knownBrowser }: AttemptSource): Counter[] => {
    const policy: Policy = policies[kind];
    const network = networkOf(address);
    const counter = (scope: Scope, key: string): Counter[] => {
      const limit = policy[scope];
      if (limit === undefined) return [];
      return [{ limiter: limiterOf(`${kind}.${scope}`, limit), key, refuses: scope !== 'ceiling' || policy.ceiling?.refuses === true }];
    };
    if (knownBrowser !== undefined) return counter('source', digest(target, 'browser', knownBrowser));
    return [
      ...counter('source', digest(target, 'network', network)),
      ...counter('network', network),
      ...counter('ceiling', digest(target)),
    ];
  };

  return {
    async begin(kind, target, source) {
      const counters = countersOf(kind, target, source);
      let aboveCeiling = 0;
      for (const { limiter, key, refuses } of counters) {
        const { consumedPoints, msBeforeNext } = await limiter.consume(key).catch(onlyLimited);
        const excess = Math.max(0, consumedPoints - limiter.points);
        refuse(refuses && excess > 0 ? [msBeforeNext] : []);
        if (!refuses) aboveCeiling = excess;
      }
      return {
        aboveCeiling,
        async succeed() {
          for (const { limiter, key } of counters) await limiter.reward(key);
        },
      };
    },
    async refuseGuesser(kind, target, source) {
      const counters = countersOf(kind, target, { address: source.address }).slice(0, 2);
      const limits = counters.flatMap(({ limiter, key }) => [limiter.getKey(key), limiter.points]);
      const endsAt = (await reached(em, limits))?.ends_at ?? 0;
      if (endsAt > Date.now()) refuse([endsAt - Date.now()]);
    },
  };
}

/** No limits at all: only to see what goes wrong without them. */
export const unlimitedAttempts: AttemptLimits = {
  begin: async () => ({ aboveCeiling: 0, succeed: async () => undefined }),
  refuseGuesser: async () => undefined,
};

/** `consume` rejects with its result when a limit is exceeded, and with an error when the database fails. */
function onlyLimited(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}

function refuse(waits: readonly number[]): void {
  if (waits.length > 0) throw new TooManyAttemptsError(Math.max(...waits));
}

/** The target may be an e-mail address or a valid code, which must not be readable in the table. */
const digest = (...parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

const dueForSweep = 'delete from attempts where expire < $1';

/** Forgets what no longer counts; how many rows that were. */
export async function sweepAttempts(em: Em, now: Date): Promise<number> {
  const { numAffectedRows } = await em.getKysely().executeQuery(CompiledQuery.raw(dueForSweep, [now.getTime()]));
  return Number(numAffectedRows ?? 0);
}
