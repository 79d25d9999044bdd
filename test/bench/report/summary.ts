import type { Case } from '../cases.ts';
import type { Check, Goal } from './threshold.ts';
import { median } from '../measurements/measure.ts';
import type { Rates, Settings } from '../measurements/rates.ts';
import type { ServerName } from '../servers/target.ts';

/** A figure of several runs. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

export type RateSummary = {
  readonly name: string;
  readonly title: string;
  readonly subject: ServerName;
  readonly perSecond: Readonly<Partial<Record<ServerName, number>>>;
  /** Ours to theirs in each run. */
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

/** Of the time at a constant rate; on PGlite for information. */
const steadyGoal = { atMost: 5 };

const spreadOf = (values: readonly number[]): Spread => ({ median: median(values), min: Math.min(...values), max: Math.max(...values) });

/** Medians of the runs; ratios are taken within each run before. */
export function summaryOf(cases: readonly Case[], runs: readonly Run[], settings: Settings & { readonly orders: number }): Summary {
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

function rateSummary({ name, title, subject, peers, goals }: Case, runs: readonly Rates[]): RateSummary {
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
      return { peer, ...spreadOf(of(subject).map((ours, run) => ours / (theirs[run] ?? Number.NaN))), ...goalOf(goals[peer]) };
    }),
    steady: {
      p50Ms: median(steady.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(steady.map(({ p99Ms }) => p99Ms)),
      ratio: { ...spreadOf(steady.map(({ p50Ms, p99Ms }) => p99Ms / p50Ms)), ...(subject === 'mandate' && { goal: steadyGoal }) },
    },
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
  };
}

function checkSummary(first: Check, runs: readonly Check[]): CheckSummary {
  const spread = spreadOf(runs.map(({ value }) => value));
  const parts = Object.fromEntries(
    Object.keys(first.parts).map((name) => [name, median(runs.map((run) => run.parts[name] ?? Number.NaN))]),
  );
  return { ...first, value: spread.median, spread, parts };
}
