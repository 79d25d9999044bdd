import type { BenchmarkCase } from '../cases/benchmark-cases.ts';
import type { Check, Goal } from '../measurements/check.ts';
import { median } from '../measurements/run-load.ts';
import { latencyPeer, type Rates, type Settings } from '../measurements/rates.ts';
import type { ServerName } from '../servers/target.ts';

/** Median and range of a measurement over several runs. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

export type RateSummary = {
  readonly name: string;
  readonly title: string;
  readonly subject: ServerName;
  readonly perSecond: Readonly<Partial<Record<ServerName, number>>>;
  /** Our server's throughput divided by each peer's throughput, in each run. */
  readonly ratios: readonly (Spread & { readonly peer: ServerName; readonly goal?: Goal })[];
  readonly perSecondGoal?: Goal;
  /** Latency at 70 % of our server's throughput. */
  readonly steady: { readonly p50Ms: number; readonly p99Ms: number };
  /**
   * Our server's 99th percentile response times, compared with the hand-written server's. Empty if the case has no such peer.
   */
  readonly p99: readonly (P99Comparison & Spread)[];
  readonly failed: number;
};

type P99Comparison = { readonly load: '70 %' | 'full load'; readonly oursMs: number; readonly theirsMs: number; readonly goal: Goal };

export type CheckSummary = Check & { readonly spread: Spread };

export type Run = { readonly rates: readonly Rates[]; readonly checks: readonly Check[] };

export type Summary = Settings & {
  readonly runs: number;
  readonly orders: number;
  readonly customers: number;
  readonly rates: readonly RateSummary[];
  readonly checks: readonly CheckSummary[];
  readonly eachRun: readonly Run[];
};

/** Goals for our server's 99th percentile response time, as multiples of the hand-written server's time. */
const p99Goals = { '70 %': { atMost: 1.5 }, 'full load': { atMost: 2 } } as const;

const computeSpread = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

/** Computes medians over all runs. Ratios are first computed within each run. */
export function summarizeRuns(
  cases: readonly BenchmarkCase[],
  runs: readonly Run[],
  settings: Settings & { readonly orders: number; readonly customers: number },
): Summary {
  const rates = cases.flatMap((one) => {
    const mine = runs.flatMap((run) => run.rates.filter(({ name }) => name === one.name));
    return mine.length > 0 ? [rateSummary(one, mine)] : [];
  });
  const names = [...new Set(runs.flatMap(({ checks }) => checks.map(({ name }) => name)))];
  const checks = names.flatMap((name) => {
    const mine = runs.flatMap((run) => run.checks.filter((check) => check.name === name));
    return mine[0] ? [checkSummary(mine[0], mine)] : [];
  });
  return { runs: runs.length, ...settings, rates, checks, eachRun: runs };
}

function rateSummary({ name, title, subject, peers, goals, perSecondGoal }: BenchmarkCase, runs: readonly Rates[]): RateSummary {
  const of = (server: ServerName): number[] => runs.map(({ perSecond }) => perSecond[server] ?? Number.NaN);
  const goalOf = (atLeast: number | undefined): { goal?: Goal } => (atLeast === undefined ? {} : { goal: { atLeast } });
  const steady = (percentile: 'p50Ms' | 'p99Ms', server: ServerName): number[] =>
    runs.map((run) => run.steady[server]?.[percentile] ?? Number.NaN);
  const compareP99 = (load: P99Comparison['load'], of99th: (server: ServerName) => number[]): P99Comparison & Spread => {
    const [ours, theirs] = [of99th(subject), of99th(latencyPeer)];
    const ratios = ours.map((value, run) => value / (theirs[run] ?? Number.NaN));
    return { load, oursMs: median(ours), theirsMs: median(theirs), goal: p99Goals[load], ...computeSpread(ratios) };
  };
  return {
    name,
    title,
    subject,
    perSecond: Object.fromEntries([subject, ...peers].map((server) => [server, median(of(server))])),
    ...(perSecondGoal !== undefined && { perSecondGoal: { atLeast: perSecondGoal } }),
    ratios: peers.map((peer) => {
      const theirs = of(peer);
      return { peer, ...computeSpread(of(subject).map((ours, run) => ours / (theirs[run] ?? Number.NaN))), ...goalOf(goals[peer]) };
    }),
    steady: { p50Ms: median(steady('p50Ms', subject)), p99Ms: median(steady('p99Ms', subject)) },
    p99: peers.includes(latencyPeer)
      ? [
          compareP99('70 %', (server) => steady('p99Ms', server)),
          compareP99('full load', (server) => runs.map(({ fullLoadP99Ms }) => fullLoadP99Ms[server] ?? Number.NaN)),
        ]
      : [],
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
  };
}

function checkSummary(first: Check, runs: readonly Check[]): CheckSummary {
  const spread = computeSpread(runs.map(({ value }) => value));
  const parts = Object.fromEntries(
    Object.keys(first.parts).map((name) => [name, median(runs.map((run) => run.parts[name] ?? Number.NaN))]),
  );
  return { ...first, value: spread.median, spread, parts };
}
