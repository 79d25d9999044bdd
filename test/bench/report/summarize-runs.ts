import type { BenchmarkCase } from '../cases/benchmark-cases.ts';
import type { Check, Goal } from '../measurements/check.ts';
import { median } from '../measurements/run-load.ts';
import type { Rates, Settings } from '../measurements/rates.ts';
import type { ServerName } from '../servers/target.ts';

/** Median and range of a figure over several runs. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

export type RateSummary = {
  readonly name: string;
  readonly title: string;
  readonly subject: ServerName;
  readonly perSecond: Readonly<Partial<Record<ServerName, number>>>;
  /** Our server's throughput divided by each peer's throughput, in each run. */
  readonly ratios: readonly (Spread & { readonly peer: ServerName; readonly goal?: Goal })[];
  readonly steady: { readonly p50Ms: number; readonly p99Ms: number; readonly ratio: Spread & { readonly goal?: Goal } };
  readonly failed: number;
};

export type CheckSummary = Check & { readonly spread: Spread };

export type Run = { readonly rates: readonly Rates[]; readonly checks: readonly Check[] };

export type Summary = Settings & {
  readonly runs: number;
  readonly orders: number;
  readonly rates: readonly RateSummary[];
  readonly checks: readonly CheckSummary[];
  readonly eachRun: readonly Run[];
};

/** Maximum ratio of p99 to p50 at a constant rate. This goal does not apply to PGlite. */
const steadyGoal = { atMost: 5 };

const computeSpread = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

/** Computes medians over all runs. Ratios are first computed within each run. */
export function summarizeRuns(
  cases: readonly BenchmarkCase[],
  runs: readonly Run[],
  settings: Settings & { readonly orders: number },
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

function rateSummary({ name, title, subject, peers, goals }: BenchmarkCase, runs: readonly Rates[]): RateSummary {
  const of = (server: ServerName): number[] => runs.map(({ perSecond }) => perSecond[server] ?? Number.NaN);
  const goalOf = (atLeast: number | undefined): { goal?: Goal } => (atLeast === undefined ? {} : { goal: { atLeast } });
  const steady = runs.map((run) => run.steady);
  return {
    name,
    title,
    subject,
    perSecond: Object.fromEntries([subject, ...peers].map((server) => [server, median(of(server))])),
    ratios: peers.map((peer) => {
      const theirs = of(peer);
      return { peer, ...computeSpread(of(subject).map((ours, run) => ours / (theirs[run] ?? Number.NaN))), ...goalOf(goals[peer]) };
    }),
    steady: {
      p50Ms: median(steady.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(steady.map(({ p99Ms }) => p99Ms)),
      ratio: { ...computeSpread(steady.map(({ p50Ms, p99Ms }) => p99Ms / p50Ms)), ...(subject === 'mandate' && { goal: steadyGoal }) },
    },
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
