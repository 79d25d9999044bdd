import { percentile } from '../../load/load-generator.ts';
import { runClosedLoop, runAtConstantRate, type TimedRequest } from '../load-generator/node-load-generator.ts';
import type { Traffic } from '../load-generator/traffic.ts';
import { runWrk, isWrkInstalled } from '../load-generator/wrk.ts';

export const wrkIsInstalled = await isWrkInstalled();

/** Percentiles of the response time, and the number of failed requests. */
export type Latency = { readonly p50Ms: number; readonly p99Ms: number; readonly failed: number };

/** Measures the throughput of closed-loop connections, each of which waits for a response before its next request. */
export async function measureThroughput(
  origin: string,
  traffic: Traffic,
  connections: number,
  seconds: number,
): Promise<Latency & { readonly perSecond: number; readonly finished: number }> {
  if (wrkIsInstalled && Number.isInteger(seconds)) {
    const { finished, seconds: took, ...latency } = await runWrk(origin, traffic, connections, seconds);
    return { ...latency, finished, perSecond: finished / took };
  }
  const begun = performance.now();
  const all = await runClosedLoop(origin, traffic, connections, seconds);
  const took = (performance.now() - begun) / 1000;
  const finished = all.filter(({ ok }) => ok).length;
  return { ...latencyOf(all), finished, perSecond: finished / took };
}

/** Measures the latency at a constant request rate. */
export async function measureLatencyAtRate(
  origin: string,
  traffic: Traffic,
  connections: number,
  seconds: number,
  perSecond: number,
): Promise<Latency> {
  if (wrkIsInstalled && Number.isInteger(seconds)) return runWrk(origin, traffic, connections, seconds, perSecond);
  return latencyOf(await runAtConstantRate(origin, traffic, connections, seconds, perSecond));
}

const latencyOf = (requests: readonly TimedRequest[]): Latency => ({
  p50Ms: percentile(requests, 0.5),
  p99Ms: percentile(requests, 0.99),
  failed: requests.filter(({ ok }) => !ok).length,
});

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
};
