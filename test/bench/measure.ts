import autocannon from 'autocannon';
import { fireWrk, hasWrk } from './wrk.ts';

/** One request of a case, new for every time it is sent. */
export type Shot = {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

export type Figures = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 2xx, and connections that broke. */
  readonly failed: number;
};

export type Load = {
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second, however long the answers take; without it, as many as are answered. */
  readonly rate?: number;
};

/** Requests a second for which there are different ones. */
const perSecondMax = 5_000;
const withWrk = await hasWrk();

/** Sends `shot()` over and over. With a rate, the time of an answer counts from when its request was due. */
export async function fire(origin: string, shot: () => Shot, { connections, seconds, rate }: Load): Promise<Figures> {
  if (withWrk && rate === undefined) {
    const shots = Array.from({ length: seconds * perSecondMax }, shot);
    const { requests, seconds: took, failed, p50: p50Ms, p99: p99Ms } = await fireWrk(origin, shots, connections, seconds);
    return { perSecond: (requests - failed) / took, p50Ms, p99Ms, failed };
  }
  const result = await autocannon({
    url: origin,
    connections,
    duration: seconds,
    ...(rate !== undefined && { overallRate: Math.max(connections, Math.round(rate)) }),
    requests: [{ setupRequest: (request) => ({ ...request, ...shot() }) }],
  });
  return {
    perSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
};
