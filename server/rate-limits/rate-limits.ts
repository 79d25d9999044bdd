import type { Em } from '../database/entity-manager/entity-manager.ts';
import { networkOf } from '../http/request/client-network.ts';
import type { LimitState, RequestLimits } from '../http/middleware/rate-limit.ts';
import type { MonthlyUse } from '../usage/usage-buffer.ts';
import type { Counters } from './counters.ts';
import { monthOf } from '../usage/month.ts';

export type RateLimits = {
  /** Requests a minute: of an application for one person, of an API key, of an address without a token. */
  readonly default: number;
  readonly apiKey: number;
  readonly ip: number;
  /** Requests in a calendar month, of an application or an API key. */
  readonly monthly: number;
  /** Something else than a minute, only to see it end. */
  readonly windowSeconds?: number;
};

export const usualRateLimits: RateLimits = { default: 600, apiKey: 600, ip: 600, monthly: 1_000_000 };

export type RequestLimitsParts = {
  readonly em: Em;
  readonly limits: RateLimits;
  readonly counters: Counters;
  readonly use: MonthlyUse;
};

export function requestLimits({ em, limits, counters, use }: RequestLimitsParts): RequestLimits {
  async function monthly(clientId: string, limit: number, counts: boolean): Promise<LimitState> {
    const now = new Date();
    const { seconds, end } = monthOf(now);
    const { requests, exceeded } = await use.count(em, clientId, limit, counts, now);
    const left = { used: requests, remaining: Math.max(0, limit - requests) };
    return { policy: 'monthly', limit, windowSeconds: seconds, ...left, resetsAt: end, exceeded };
  }
  return {
    async count(principal, address) {
      if (!principal) return [await counters.count('ip', limits.ip, networkOf(address))];
      const { clientId, user, limits: own } = principal;
      const { policy, perMinute, perMonth } = own ?? { policy: 'default', perMinute: null, perMonth: null };
      const usual = policy === 'default' ? limits.default : limits.apiKey;
      const minute = await counters.count(policy, perMinute ?? usual, `${clientId}/${user?.id ?? ''}`);
      // what is refused for the minute does not count for the month: nothing was done
      return [minute, await monthly(clientId, perMonth ?? limits.monthly, !minute.exceeded)];
    },
  };
}
