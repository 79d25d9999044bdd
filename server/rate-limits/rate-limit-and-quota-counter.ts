import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { rateLimitNetworkFromAddress } from '../http/request/rate-limit-network-from-address.ts';
import type { RateLimitAndQuotaCounter } from '../http/middleware/enforce-rate-limit.ts';
import type { RateLimitState } from '../http/request/rate-limit-state-type.ts';
import type { MonthlyUsageBuffer } from '../usage/monthly-usage-buffer.ts';
import type { RateLimitCounters } from './memory-or-redis-counters.ts';
import { calendarMonthPeriodFromDate } from '../usage/calendar-month-period-from-date.ts';

export type RateLimits = {
  /**
   * Maximum number of requests per minute for each application and user. `apiKey` is the maximum for each API key, and `ip` is the maximum
   * for each IP address that sends requests without a token.
   */
  readonly default: number;
  readonly apiKey: number;
  readonly ip: number;
  /** Maximum number of requests per calendar month, per application or API key. */
  readonly monthly: number;
  /** Length of the rate limit window (default: one minute); shorter in tests. */
  readonly windowSeconds?: number;
};

export const defaultRateLimits: RateLimits = { default: 600, apiKey: 600, ip: 600, monthly: 1_000_000 };

export type RateLimitAndQuotaCounterOptions = {
  readonly em: EntityManager;
  readonly limits: RateLimits;
  readonly counters: RateLimitCounters;
  readonly use: MonthlyUsageBuffer;
};

export function createRateLimitAndQuotaCounter({ em, limits, counters, use }: RateLimitAndQuotaCounterOptions): RateLimitAndQuotaCounter {
  async function countMonthly(clientId: string, limit: number, counts: boolean): Promise<RateLimitState> {
    const now = new Date();
    const { seconds, end } = calendarMonthPeriodFromDate(now);
    const { requests, exceeded } = await use.countRequest(em, clientId, limit, counts, now);
    const remainder = { used: requests, remaining: Math.max(0, limit - requests) };
    return { policy: 'monthly', limit, windowSeconds: seconds, ...remainder, resetsAt: end, exceeded };
  }
  return {
    async count(principal, address) {
      if (!principal) return [await counters.count('ip', limits.ip, rateLimitNetworkFromAddress(address))];
      const { clientId, user, limits: ownLimits } = principal;
      const { policy, perMinute, perMonth } = ownLimits ?? { policy: 'default', perMinute: null, perMonth: null };
      const defaultLimit = policy === 'default' ? limits.default : limits.apiKey;
      const minute = await counters.count(policy, perMinute ?? defaultLimit, `${clientId}/${user?.id ?? ''}`);
      // requests that the minute limit rejects do not count toward the monthly quota
      return [minute, await countMonthly(clientId, perMonth ?? limits.monthly, !minute.exceeded)];
    },
    countError: ({ clientId }) => use.countError(clientId, new Date()),
  };
}
