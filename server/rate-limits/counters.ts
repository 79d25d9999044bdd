import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitState } from '../http/middleware/rate-limit.ts';
import type { SharedCounters } from './redis-counters.ts';

export type Counters = {
  /** One request more under this key: how many are left of `limit` until the window ends, which begins with the first. */
  count(policy: string, limit: number, key: string): Promise<LimitState>;
};

/**
 * In the memory of this process, or in a Redis that several processes share. While Redis is away each process counts for itself:
 * then every one of them lets as many through as all should, and nobody is refused for it.
 */
export function counters(windowSeconds: number, shared?: SharedCounters): Counters {
  const limiters = new Map<string, RateLimiterAbstract>();
  const limiterOf = (policy: string, points: number): RateLimiterAbstract => {
    const name = `${policy}:${points}`;
    const limiter = limiters.get(name) ?? newLimiter({ keyPrefix: policy, points, duration: windowSeconds }, shared);
    limiters.set(name, limiter);
    return limiter;
  };
  return {
    async count(policy, limit, key) {
      const result = await limiterOf(policy, limit).consume(key).catch(onlyLimited);
      const exceeded = result instanceof Refused;
      const { msBeforeNext, remainingPoints } = exceeded ? result.state : result;
      const resetsAt = new Date(Date.now() + msBeforeNext);
      const remaining = exceeded ? 0 : Math.max(0, remainingPoints);
      return { policy, limit, windowSeconds, used: limit - remaining, remaining, resetsAt, exceeded };
    },
  };
}

type Window = { readonly keyPrefix: string; readonly points: number; readonly duration: number };

function newLimiter(window: Window, shared: SharedCounters | undefined): RateLimiterAbstract {
  const local = new RateLimiterMemory(window);
  if (!shared) return local;
  return new RateLimiterRedis({
    storeClient: shared.client,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    ...window,
    keyPrefix: `${shared.prefix}:${window.keyPrefix}`,
    // whoever is over the limit is refused without asking Redis again
    inMemoryBlockOnConsumed: window.points,
    insuranceLimiter: local,
  });
}

class Refused {
  readonly state: RateLimiterRes;
  constructor(state: RateLimiterRes) {
    this.state = state;
  }
}

/** It rejects with a result when there were too many, and with an error when it is broken. */
function onlyLimited(reason: unknown): Refused {
  if (reason instanceof RateLimiterRes) return new Refused(reason);
  throw reason;
}
