/**
 * `npm run bench`: our server as shipped beside peers that do less, in one run and in turns. Prints the figures as Markdown, and writes
 * docs/benchmark.json, docs/benchmark.svg and the tables of docs/performance.md.
 *
 *   --runs 3           everything three times, and medians of the three
 *   --case a --case b  these alone, and nothing is written: read-order, …, refresh, page, two-processes, memory, start
 *   --all              `page` too, which fills a database with ten million orders first (`--long-list` others)
 *   --rounds 3 --seconds 3 --connections 32 --orders 200000 --out docs
 *
 * On the PostgreSQL of the packages, or in a database of its own on that of `DATABASE_URL`.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cases } from './cases.ts';
import type { Check } from './report/threshold.ts';
import { withWrk } from './measurements/measure.ts';
import { measureMemory } from './measurements/memory.ts';
import { LongList } from './measurements/deep-pages.ts';
import { measureRates, type Rates } from './measurements/rates.ts';
import { chart, table, withTable } from './report/report.ts';
import { Stage } from './servers/environment.ts';
import { measureStart } from './measurements/start-up-time.ts';
import { type Run, summaryOf, type Summary } from './report/summary.ts';
import { measureTwoProcesses } from './measurements/two-processes.ts';

const { values: given } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    case: { type: 'string', multiple: true },
    all: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    orders: { type: 'string', default: '200000' },
    'long-list': { type: 'string', default: '10000000' },
    out: { type: 'string', default: join(import.meta.dirname, '../../docs') },
  },
});
const settings = {
  rounds: Number(given.rounds),
  seconds: Number(given.seconds),
  connections: Number(given.connections),
  orders: Number(given.orders),
};
/** More than send at the same time: of two refreshes of one grant the second waits for the first. */
const people = Math.ceil(settings.connections * 1.5);
const otherNames = ['page', 'two-processes', 'memory', 'start'];

const begun = performance.now();
const say = (doing: string): void =>
  void process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${doing}\n`);

for (const name of given.case ?? []) {
  const names = [...cases.map((one) => one.name), ...otherNames];
  if (!names.includes(name)) throw new Error(`there is no case ${name}: ${names.join(', ')}`);
}

/** The long list is not measured unless it is asked for. */
const wanted = (name: string): boolean => given.case?.includes(name) ?? (name !== 'page' || given.all);

async function measureRun(stage: Stage, longList: LongList | undefined): Promise<Run> {
  const rates: Rates[] = [];
  for (const one of cases) if (wanted(one.name)) rates.push(await measureRates(stage, one, settings, say));
  const checks: Check[] = [];
  if (longList) checks.push(...(await longList.measure()));
  if (wanted('two-processes')) checks.push(...(await measureTwoProcesses(stage, settings, say)));
  if (wanted('memory')) checks.push(...(await measureMemory(stage, settings, say)));
  if (wanted('start')) checks.push(...(await measureStart(stage.directory, settings.rounds, say)));
  return { rates, checks };
}

async function write(summary: Summary, directory: string): Promise<void> {
  const document = join(directory, 'performance.md');
  await writeFile(join(directory, 'benchmark.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  await writeFile(join(directory, 'benchmark.svg'), chart(summary.rates));
  await writeFile(document, withTable(await readFile(document, 'utf8'), table(summary)));
  say(`written to ${directory}`);
}

if (!withWrk) say('without wrk the load takes a large part of the machine: apt-get install wrk');
await using stage = await Stage.set({ orders: settings.orders, products: 10_000, users: 20_000, people }, say);
await using longList = wanted('page') ? await LongList.fill(stage, Number(given['long-list']), say) : undefined;
const runs: Run[] = [];
for (let run = 1; run <= Number(given.runs); run += 1) {
  say(`run ${run} of ${given.runs}`);
  runs.push(await measureRun(stage, longList));
}
const summary = summaryOf(cases, runs, settings);
process.stdout.write(`\n${table(summary)}\n\n`);
if (given.case === undefined) await write(summary, given.out);
