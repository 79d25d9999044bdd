import type { Request, Response } from 'express';
import type { Principal } from '../request/principal.ts';
import { noteOf } from '../../memory/object-metadata.ts';
import { problem } from '../problem-details/problem.ts';

/** What is left of one limit, the request just made counted already. */
export type LimitState = {
  /** What the headers call it. */
  readonly policy: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** How many were made. */
  readonly used: number;
  readonly remaining: number;
  /** When all of it is there again. */
  readonly resetsAt: Date;
  /** Whether this request was one too many. */
  readonly exceeded: boolean;
};

export type RequestLimits = {
  /** Counts one request: of an application and its person, of an API key, or, without either, of an address. */
  count(principal: Principal | undefined, address: string | undefined): Promise<readonly LimitState[]>;
};

/** Counts a request, and refuses it when it is one too many. */
export type LimitRequest = (req: Request, res: Response, principal?: Principal) => Promise<void>;

const states = noteOf<readonly LimitState[]>('limits');

/** What was left of the limits when this request had been counted. */
export const limitStatesOf = (req: object): readonly LimitState[] => states.get(req) ?? [];

/** So many seconds more, made up anew each time, that those who wait for a new month do not come back all at once. */
const monthlyJitterSeconds = 60;

export const limitRequests =
  (limits: RequestLimits): LimitRequest =>
  async (req, res, principal) => {
    const counted = await limits.count(principal, principal ? undefined : req.ip);
    states.set(req, counted);
    setLimitHeaders(res, counted);
    const violated = counted.filter(({ exceeded }) => exceeded);
    const [first] = violated;
    if (!first) return;
    const monthly = first.policy === 'monthly';
    const seconds = secondsUntil(first.resetsAt) + (monthly ? Math.floor(Math.random() * monthlyJitterSeconds) : 0);
    throw problem(monthly ? 'quota_exceeded' : 'rate_limited', {
      detail: `${first.limit} requests ${monthly ? 'a month' : `in ${first.windowSeconds} seconds`} are allowed. Nothing was done. Try again in ${seconds} seconds.`,
      headers: { 'Retry-After': String(seconds) },
      violatedPolicies: violated.map(({ policy }) => policy),
    });
  };

/** Lists of structured fields (RFC 9651), as draft-ietf-httpapi-ratelimit-headers has them. */
function setLimitHeaders(res: Response, counted: readonly LimitState[]): void {
  const policies = counted.map(({ policy, limit, windowSeconds }) => `"${policy}";q=${limit};w=${windowSeconds}`);
  const left = counted.map(({ policy, remaining, resetsAt }) => `"${policy}";r=${remaining};t=${secondsUntil(resetsAt)}`);
  res.setHeader('RateLimit-Policy', policies.join(', ')).setHeader('RateLimit', left.join(', '));
}

const secondsUntil = (moment: Date): number => Math.max(1, Math.ceil((moment.getTime() - Date.now()) / 1000));
