/**
 * `npm run bench` compares our server, as shipped, with simpler servers. Each run measures the servers in turn. The program prints the
 * results as Markdown, and writes docs/benchmark.json, docs/benchmark.svg and the tables in docs/performance.md.
 *
 *   --runs 3           runs everything three times and reports medians
 *   --case a --case b  runs only these cases and writes no file: read-own-order, …, refresh, page, dpop, order-limits, two-processes, memory, start
 *   --all              includes `page`, which fills a database with ten million orders first (`--long-list` changes the number)
 *   --peers            compares our server with Keycloak, Ory Hydra, Vendure and Medusa instead, and writes docs/peers.md
 *   --peer keycloak    compares our server only with this peer, and writes no file
 *   --rounds 3 --seconds 3 --connections 32 --orders 200000 --customers 1000 --out docs
 *
 * Uses the installed PostgreSQL, or a separate database on the server at `DATABASE_URL`.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cases } from './cases/benchmark-cases.ts';
import type { Check } from './measurements/check.ts';
import { wrkIsInstalled } from './measurements/run-load.ts';
import { measureDpop } from './measurements/dpop.ts';
import { measureMemory } from './measurements/memory.ts';
import { LargeOrderList } from './measurements/large-order-list.ts';
import { measureOrderLimits } from './measurements/order-limits.ts';
import { measureRates, type Rates } from './measurements/rates.ts';
import { drawChart, formatTables, replaceGeneratedText } from './report/format-report.ts';
import { BenchmarkEnvironment } from './servers/benchmark-environment.ts';
import { measureStart } from './measurements/start-up-time.ts';
import { type Run, summarizeRuns, type Summary } from './report/summarize-runs.ts';
import { measureTwoProcesses } from './measurements/two-processes.ts';
import { statementCountSettings } from './measurements/well-known-peers.ts';
import { formatPeerComparison } from './report/format-peers.ts';
import { comparePeers, startPeer, type PeerName } from './well-known-peers/compare-peers.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    case: { type: 'string', multiple: true },
    all: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    peer: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    orders: { type: 'string', default: '200000' },
    customers: { type: 'string', default: '1000' },
    'long-list': { type: 'string', default: '10000000' },
    out: { type: 'string', default: join(import.meta.dirname, '../../docs') },
  },
});
const settings = {
  rounds: Number(options.rounds),
  seconds: Number(options.seconds),
  connections: Number(options.connections),
  orders: Number(options.orders),
  customers: Number(options.customers),
};
const otherNames = ['page', 'dpop', 'order-limits', 'two-processes', 'memory', 'start'];

const startedAt = performance.now();
const reportProgress = (progress: string): void =>
  void process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${progress}\n`);

for (const name of options.case ?? []) {
  const names = [...cases.map((one) => one.name), ...otherNames];
  if (!names.includes(name)) throw new Error(`unknown case ${name}; available cases: ${names.join(', ')}`);
}

for (const name of options.peer ?? []) {
  if (!(name in startPeer)) throw new Error(`unknown peer ${name}; available peers: ${Object.keys(startPeer).join(', ')}`);
}

/** The large order list is measured only on request. */
const isSelected = (name: string): boolean => options.case?.includes(name) ?? (name !== 'page' || options.all);

async function measureRun(largeOrderList: LargeOrderList | undefined): Promise<Run> {
  const rates: Rates[] = [];
  for (const one of cases) if (isSelected(one.name)) rates.push(await measureRates(environment, one, settings, reportProgress));
  const checks: Check[] = [];
  if (largeOrderList) checks.push(...(await largeOrderList.measure()));
  if (isSelected('dpop')) checks.push(...(await measureDpop(environment, settings, reportProgress)));
  if (isSelected('order-limits')) checks.push(...(await measureOrderLimits(environment, settings, reportProgress)));
  if (isSelected('two-processes')) checks.push(...(await measureTwoProcesses(environment, settings, reportProgress)));
  if (isSelected('memory')) checks.push(...(await measureMemory(environment, settings, reportProgress)));
  if (isSelected('start')) checks.push(...(await measureStart(environment.directory, settings.rounds, reportProgress)));
  return { rates, checks };
}

async function writeResults(summary: Summary, directory: string): Promise<void> {
  const document = join(directory, 'performance.md');
  await writeFile(join(directory, 'benchmark.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  await writeFile(join(directory, 'benchmark.svg'), drawChart(summary.rates));
  await writeFile(document, replaceGeneratedText(await readFile(document, 'utf8'), formatTables(summary)));
  reportProgress(`written to ${directory}`);
}

if (!wrkIsInstalled) reportProgress('wrk is not installed, so the load generator uses a large part of the CPU time: apt-get install wrk');
const comparesPeers = options.peers || options.peer !== undefined;
await using environment = await BenchmarkEnvironment.create(
  {
    orders: settings.orders,
    products: 10_000,
    users: 20_000,
    customers: settings.customers,
    postgresqlSettings: comparesPeers ? statementCountSettings : [],
  },
  reportProgress,
);
await (comparesPeers ? reportPeers() : reportBenchmark());

async function reportBenchmark(): Promise<void> {
  await using largeOrderList = isSelected('page')
    ? await LargeOrderList.fill(environment, Number(options['long-list']), reportProgress)
    : undefined;
  const runs: Run[] = [];
  for (let run = 1; run <= Number(options.runs); run += 1) {
    reportProgress(`run ${run} of ${options.runs}`);
    runs.push(await measureRun(largeOrderList));
  }
  const summary = summarizeRuns(cases, runs, settings);
  process.stdout.write(`\n${formatTables(summary)}\n\n`);
  if (options.case === undefined) await writeResults(summary, options.out);
}

async function reportPeers(): Promise<void> {
  const isSelectedPeer = (peer: PeerName): boolean => options.peer?.includes(peer) ?? true;
  const comparison = await comparePeers(environment, { settings, isSelected: isSelectedPeer, report: reportProgress });
  const tables = formatPeerComparison(comparison);
  process.stdout.write(`\n${tables}\n\n`);
  if (options.peer !== undefined) return;
  const document = join(options.out, 'peers.md');
  await writeFile(document, replaceGeneratedText(await readFile(document, 'utf8'), tables));
  reportProgress(`written to ${document}`);
}
