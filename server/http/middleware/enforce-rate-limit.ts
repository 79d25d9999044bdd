import type { Request, Response } from 'express';
import type { Principal } from '../request/principal-and-token-types.ts';
import type { RateLimitState } from '../request/rate-limit-state-type.ts';
import { getRequestContext } from '../request/request-context-principal-and-access-log.ts';
import { createProblem } from '../problem-details/problem.ts';
import { translatable } from '../problem-details/translatable-text.ts';

export type RateLimitAndQuotaCounter = {
  /** Counts one request. The counter belongs to an application and its user, to an API key or, if neither is known, to an IP address. */
  count(principal: Principal | undefined, address: string | undefined): Promise<readonly RateLimitState[]>;
  /** Counts an error response that an application or API key received. */
  countError(principal: Principal): void;
};

/** Counts a request and rejects it if it exceeds a limit. */
export type ApplyRateLimit = (req: Request, res: Response, principal?: Principal) => Promise<void>;

/** Maximum random delay that is added to `Retry-After`, so that clients do not all retry in the first second of a month. */
const monthlyJitterSeconds = 60;

export const createRateLimitEnforcer =
  (limits: RateLimitAndQuotaCounter): ApplyRateLimit =>
  async (req, res, principal) => {
    const limitStates = await limits.count(principal, principal ? undefined : req.ip);
    getRequestContext(req).rateLimitStates = limitStates;
    setLimitHeaders(res, limitStates);
    if (principal) res.once('finish', () => res.statusCode >= 400 && limits.countError(principal));
    const violated = limitStates.filter(({ exceeded }) => exceeded);
    const [first] = violated;
    if (!first) return;
    const monthly = first.policy === 'monthly';
    const seconds = secondsUntil(first.resetsAt) + (monthly ? Math.floor(Math.random() * monthlyJitterSeconds) : 0);
    const { limit, windowSeconds: window } = first;
    throw createProblem(monthly ? 'quota_exceeded' : 'rate_limited', {
      detail: monthly
        ? translatable`${{ limit }} requests a month are allowed. The request was not processed. Try again in ${{ seconds }} seconds.`
        : translatable`The limit is ${{ limit }} requests per ${{ window }} seconds. The request was not processed. Try again in ${{ seconds }} seconds.`,
      headers: { 'Retry-After': String(seconds) },
      violatedPolicies: violated.map(({ policy }) => policy),
    });
  };

/** Sets the headers that draft-ietf-httpapi-ratelimit-headers specifies; their values are structured field lists (RFC 9651). */
function setLimitHeaders(res: Response, limitStates: readonly RateLimitState[]): void {
  const policies = limitStates.map(({ policy, limit, windowSeconds }) => `"${policy}";q=${limit};w=${windowSeconds}`);
  const remainders = limitStates.map(({ policy, remaining, resetsAt }) => `"${policy}";r=${remaining};t=${secondsUntil(resetsAt)}`);
  res.setHeader('RateLimit-Policy', policies.join(', ')).setHeader('RateLimit', remainders.join(', '));
}

const secondsUntil = (time: Date): number => Math.max(1, Math.ceil((time.getTime() - Date.now()) / 1000));
