import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitState } from '../http/request/rate-limit-state-type.ts';
import type { RedisCounterConnection } from './redis-counter-connection.ts';

export type RateLimitCounters = {
  /** Counts one request for this key. The window begins with the first request for the key. */
  count(policy: string, limit: number, key: string): Promise<RateLimitState>;
};

export type CreateRateLimitCounters = (windowSeconds: number) => RateLimitCounters;

/**
 * Creates counters in this process's memory or in a Redis server that several processes share. While Redis is unreachable, each process
 * counts its own requests and applies the full limit to them, so that no client is rejected because of the outage.
 */
export function createRateLimitCounters(windowSeconds: number, shared?: RedisCounterConnection): RateLimitCounters {
  const limiters = new Map<string, RateLimiterAbstract>();
  const limiterFor = (policy: string, points: number): RateLimiterAbstract => {
    const name = `${policy}:${points}`;
    const limiter = limiters.get(name) ?? createLimiter({ keyPrefix: policy, points, duration: windowSeconds }, shared);
    limiters.set(name, limiter);
    return limiter;
  };
  return {
    async count(policy, limit, key) {
      const result = await limiterFor(policy, limit).consume(key).catch(toLimitExceeded);
      const exceeded = result instanceof LimitExceeded;
      const { msBeforeNext, remainingPoints } = exceeded ? result.state : result;
      const resetsAt = new Date(Date.now() + msBeforeNext);
      const remaining = exceeded ? 0 : Math.max(0, remainingPoints);
      return { policy, limit, windowSeconds, used: limit - remaining, remaining, resetsAt, exceeded };
    },
  };
}

type WindowOptions = { readonly keyPrefix: string; readonly points: number; readonly duration: number };

function createLimiter(windowOptions: WindowOptions, shared: RedisCounterConnection | undefined): RateLimiterAbstract {
  const local = new RateLimiterMemory(windowOptions);
  if (!shared) return local;
  return new RateLimiterRedis({
    storeClient: shared.client,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    ...windowOptions,
    keyPrefix: `${shared.prefix}:${windowOptions.keyPrefix}`,
    // clients over the limit are rejected without a further Redis request
    inMemoryBlockOnConsumed: windowOptions.points,
    insuranceLimiter: local,
  });
}

class LimitExceeded {
  readonly state: RateLimiterRes;
  constructor(state: RateLimiterRes) {
    this.state = state;
  }
}

/** Returns a `LimitExceeded` error if the limiter rejected the request; rethrows the error if the limiter itself failed. */
function toLimitExceeded(reason: unknown): LimitExceeded {
  if (reason instanceof RateLimiterRes) return new LimitExceeded(reason);
  throw reason;
}
