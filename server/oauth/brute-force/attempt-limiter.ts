import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { sha256 } from '../../crypto/sha256.ts';
import { findExpiryOfReachedAttemptLimits } from './find-expiry-of-reached-attempt-limits.sql.ts';
import { createAttemptLimiterQueryAdapter } from './create-attempt-limiter-query-adapter.sql.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { rateLimitNetworkFromAddress } from '../../http/request/rate-limit-network-from-address.ts';

/** Thrown when an attempt limit is exceeded, which suggests a guessing attack. */
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
  /** Limit per combination of target and source. A source is a network, or a browser that has previously signed in to the account. */
  readonly source: Limit;
  /** Limit per network, for all targets combined. */
  readonly network: Limit;
  /**
   * Limit per target, for all networks combined. Attempts above this limit are still allowed, because otherwise any attacker could lock the
   * owner out. Instead, the caller delays further attempts or requires an additional confirmation. If `rejects` is set, attempts above the
   * limit are rejected; set `rejects` for targets that have no owner.
   */
  readonly ceiling?: Limit & { readonly rejects?: true };
};

const guessLimits = { source: { points: 10, duration: 15 * minutes }, network: { points: 30, duration: 15 * minutes } };

/** Limits for each kind of attempt: at most `points` attempts in `duration` seconds. */
const policies = {
  // NIST SP 800-63B-4 section 3.2.2 allows at most 100 consecutive failures per account
  password: { ...guessLimits, ceiling: { points: 100, duration: 24 * hours } },
  secondFactor: { ...guessLimits, ceiling: { points: 100, duration: 24 * hours } },
  /** Limits for entering a code that was sent by e-mail to confirm a sign-in. */
  emailCode: guessLimits,
  /** A passkey cannot be guessed, but each attempt requires a signature verification. */
  passkey: guessLimits,
  /** A random 256-bit secret cannot be guessed, so no ceiling across all networks is needed. */
  clientSecret: guessLimits,
  userCode: { source: { points: 10, duration: 10 * minutes }, network: { points: 30, duration: 10 * minutes } },
  /**
   * Limits for messages to one e-mail address. Above the ceiling, the owner of the address cannot request another message for an hour, but
   * has already received twenty messages with valid links.
   */
  mail: {
    source: { points: 5, duration: 1 * hours },
    network: { points: 30, duration: 1 * hours },
    ceiling: { points: 20, duration: 1 * hours, rejects: true },
  },
  /** Limits for sign-in codes that are sent to one account. Such a code is sent only after an attempt with the correct password. */
  codeMail: {
    source: { points: 5, duration: 1 * hours },
    network: { points: 30, duration: 1 * hours },
    ceiling: { points: 20, duration: 1 * hours, rejects: true },
  },
  /** Limits for open client registrations from one network. */
  registration: { source: { points: 20, duration: 1 * hours }, network: { points: 20, duration: 1 * hours } },
  /** Limits for fetching client ID metadata documents on behalf of clients in one network. */
  metadataDocument: { source: { points: 30, duration: 15 * minutes }, network: { points: 30, duration: 15 * minutes } },
} as const satisfies Record<string, Policy>;

export type AttemptKind = keyof typeof policies;

/** Maximum number of wrong passwords, from all networks, before a sign-in must be confirmed by e-mail. */
export const maxPasswordFailuresBeforeEmailConfirmation = policies.password.ceiling.points;

/** The network and the browser that an attempt comes from. */
export type AttemptSource = {
  /** The client's IP address. */
  readonly address: string | undefined;
  /**
   * ID of a browser that has previously signed in to the account (`KnownBrowserCookie`). The browser's attempts are counted separately from
   * other attempts from the same network, so that guesses from other browsers do not affect this browser.
   */
  readonly knownBrowser?: string | undefined;
};

export type CountedAttempt = {
  /** Number of attempts above the ceiling, from all networks; 0 if the ceiling has not been exceeded or the browser is known. */
  readonly aboveCeiling: number;
  /** Removes a successful attempt from the counters. */
  succeed(): Promise<void>;
};

export type AttemptLimiter = {
  /**
   * Counts an attempt before it is made, so that concurrent attempts cannot exceed a limit. An attempt rejected by a source or network
   * limit does not count against the ceiling, so that one network alone cannot exceed the ceiling.
   * @param target identifier of the account or secret, which need not exist
   * @throws TooManyAttemptsError
   */
  countAttempt(kind: AttemptKind, target: string, source: AttemptSource): Promise<CountedAttempt>;
  /**
   * Rejects a source whose failures have reached a limit, without counting an attempt. Use this for requests that are too frequent to count
   * individually.
   */
  rejectIfLimited(kind: AttemptKind, target: string, source: AttemptSource): Promise<void>;
};

type Scope = keyof Policy;
type Counter = { readonly limiter: RateLimiterPostgres; readonly key: string; readonly rejects: boolean };

/**
 * Creates an attempt limiter with database counters, which all processes share. Do not count attempts in a transaction, because a rollback
 * would undo the count.
 */
export function createDatabaseAttemptLimiter(em: EntityManager): AttemptLimiter {
  const storeClient = createAttemptLimiterQueryAdapter(em);
  const limiters = new Map<string, RateLimiterPostgres>();
  const limiterOf = (keyPrefix: string, { points, duration }: Limit): RateLimiterPostgres => {
    const options = { keyPrefix, points, duration, storeClient, storeType: 'client', tableName: 'attempts' };
    const limiter = limiters.get(keyPrefix) ?? new RateLimiterPostgres({ ...options, tableCreated: true, clearExpiredByTimeout: false });
    limiters.set(keyPrefix, limiter);
    return limiter;
  };
  const countersOf = (kind: AttemptKind, target: string, { address, knownBrowser }: AttemptSource): Counter[] => {
    const policy: Policy = policies[kind];
    const network = rateLimitNetworkFromAddress(address);
    const counter = (scope: Scope, key: string): Counter[] => {
      const limit = policy[scope];
      if (limit === undefined) return [];
      return [{ limiter: limiterOf(`${kind}.${scope}`, limit), key, rejects: scope !== 'ceiling' || policy.ceiling?.rejects === true }];
    };
    if (knownBrowser !== undefined) return counter('source', digest(target, 'browser', knownBrowser));
    return [
      ...counter('source', digest(target, 'network', network)),
      ...counter('network', network),
      ...counter('ceiling', digest(target)),
    ];
  };

  return {
    async countAttempt(kind, target, source) {
      const counters = countersOf(kind, target, source);
      let aboveCeiling = 0;
      for (const { limiter, key, rejects } of counters) {
        const { consumedPoints, msBeforeNext } = await limiter.consume(key).catch(limiterResultOrThrow);
        const excess = Math.max(0, consumedPoints - limiter.points);
        throwIfLimited(rejects && excess > 0 ? [msBeforeNext] : []);
        if (!rejects) aboveCeiling = excess;
      }
      return {
        aboveCeiling,
        async succeed() {
          for (const { limiter, key } of counters) await limiter.reward(key);
        },
      };
    },
    async rejectIfLimited(kind, target, source) {
      const counters = countersOf(kind, target, { address: source.address }).slice(0, 2);
      const limits = counters.flatMap(({ limiter, key }) => [limiter.getKey(key), limiter.points]);
      const endsAt = (await findExpiryOfReachedAttemptLimits(em, limits))?.ends_at ?? 0;
      if (endsAt > Date.now()) throwIfLimited([endsAt - Date.now()]);
    },
  };
}

/** Attempt limiter that never rejects an attempt; for tests only. */
export const neverRejectingAttemptLimiter: AttemptLimiter = {
  countAttempt: async () => ({ aboveCeiling: 0, succeed: async () => undefined }),
  rejectIfLimited: async () => undefined,
};

/** Handles a `consume` rejection. `consume` rejects with the result if a limit is exceeded, and with an error if the database fails. */
function limiterResultOrThrow(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}

function throwIfLimited(waits: readonly number[]): void {
  if (waits.length > 0) throw new TooManyAttemptsError(Math.max(...waits));
}

/** Hashes a key, so that the table does not reveal the target, which may be an e-mail address or a valid code. */
const digest = (...parts: readonly string[]): string => sha256(JSON.stringify(parts), 'base64url');
