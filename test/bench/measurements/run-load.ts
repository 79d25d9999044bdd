import { percentile } from '../../load/load-generator.ts';
import { runClosedLoop, runAtConstantRate } from '../load-generator/node-load-generator.ts';
import type { Traffic } from '../load-generator/traffic.ts';
import { runWrk, isWrkInstalled } from '../load-generator/wrk.ts';

export const wrkIsInstalled = await isWrkInstalled();

/** Measures the throughput of closed-loop connections, each of which waits for a response before its next request. */
export async function measureThroughput(
  origin: string,
  traffic: Traffic,
  connections: number,
  seconds: number,
): Promise<{ readonly perSecond: number; readonly failed: number }> {
  if (wrkIsInstalled && Number.isInteger(seconds)) {
    const { finished, failed, seconds: took } = await runWrk(origin, traffic, connections, seconds);
    return { perSecond: finished / took, failed };
  }
  const begun = performance.now();
  const all = await runClosedLoop(origin, traffic, connections, seconds);
  const took = (performance.now() - begun) / 1000;
  return { perSecond: all.filter(({ ok }) => ok).length / took, failed: all.filter(({ ok }) => !ok).length };
}

export type SteadyLatency = { readonly p50Ms: number; readonly p99Ms: number; readonly failed: number };

/** Measures the latency at a constant request rate. */
export async function measureLatencyAtRate(
  origin: string,
  traffic: Traffic,
  connections: number,
  seconds: number,
  perSecond: number,
): Promise<SteadyLatency> {
  if (wrkIsInstalled && Number.isInteger(seconds)) return runWrk(origin, traffic, connections, seconds, perSecond);
  const all = await runAtConstantRate(origin, traffic, connections, seconds, perSecond);
  return { p50Ms: percentile(all, 0.5), p99Ms: percentile(all, 0.99), failed: all.filter(({ ok }) => !ok).length };
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
};
