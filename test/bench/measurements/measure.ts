import { percentile } from '../../load/load-generator.ts';
import { closedLoop, constantRate } from '../node-load-generator.ts';
import type { Traffic } from '../traffic.ts';
import { fireWrk, hasWrk } from '../wrk.ts';

export const withWrk = await hasWrk();

/** As many as are answered, by so many connections that each wait for their answer. */
export async function fire(
  origin: string,
  traffic: Traffic,
  connections: number,
  seconds: number,
): Promise<{ readonly perSecond: number; readonly failed: number }> {
  if (withWrk && Number.isInteger(seconds)) {
    const { finished, failed, seconds: took } = await fireWrk(origin, traffic, connections, seconds);
    return { perSecond: finished / took, failed };
  }
  const begun = performance.now();
  const all = await closedLoop(origin, traffic, connections, seconds);
  const took = (performance.now() - begun) / 1000;
  return { perSecond: all.filter(({ ok }) => ok).length / took, failed: all.filter(({ ok }) => !ok).length };
}

export type Steady = { readonly p50Ms: number; readonly p99Ms: number; readonly failed: number };

/** At so many a second. */
export async function fireSteadily(
  origin: string,
  traffic: Traffic,
  connections: number,
  seconds: number,
  perSecond: number,
): Promise<Steady> {
  if (withWrk && Number.isInteger(seconds)) return fireWrk(origin, traffic, connections, seconds, perSecond);
  const all = await constantRate(origin, traffic, connections, seconds, perSecond);
  return { p50Ms: percentile(all, 0.5), p99Ms: percentile(all, 0.99), failed: all.filter(({ ok }) => !ok).length };
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
};
