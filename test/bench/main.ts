/**
 * `npm run bench`: our server as shipped beside peers that do less, in one run and in turns; prints ratios of medians, and writes
 * docs/benchmark.json and docs/benchmark.svg. `-- --case read-order` for one case, `--rounds 5 --seconds 4 --orders 200000`.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Candidate } from './candidate.ts';
import { type Figures, fire, median } from './measure.ts';
import { chart, type Result, table } from './report.ts';
import { type Case, cases } from './shots.ts';
import { setStage, type Stage } from './stage.ts';
import { measureStart } from './starting.ts';

const { values: given } = parseArgs({
  options: {
    case: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    orders: { type: 'string', default: '200000' },
  },
});
const [rounds, seconds] = [Number(given.rounds), Number(given.seconds)];
const connections = 32;

const say = (doing: string): void => void process.stderr.write(`${doing}\n`);

/** All servers in turns, round after round, so that whatever else the machine does hits them alike. */
async function measure(stage: Stage, { name, title, peers, goals, shot }: Case): Promise<Result> {
  const candidates: [string, Candidate][] = [
    ['mandate', stage.mandate],
    ...peers.map((peer): [string, Candidate] => [peer, stage.peers[peer]]),
  ];
  const figures = new Map<string, Figures[]>(candidates.map(([who]) => [who, []]));
  for (const [, { origin }] of candidates) await fire(origin, shot(stage), { connections, seconds: 1 });
  for (let round = 1; round <= rounds; round += 1) {
    for (const [who, { origin }] of candidates) {
      say(`${name}: round ${round} of ${rounds}, ${who}`);
      figures.get(who)?.push(await fire(origin, shot(stage), { connections, seconds }));
    }
  }
  const [rate] = [median((figures.get('mandate') ?? []).map(({ perSecond }) => perSecond)) * 0.7];
  const steady = await fire(stage.mandate.origin, shot(stage), { connections, seconds, rate });
  const perSecond = Object.fromEntries([...figures].map(([who, runs]) => [who, median(runs.map((run) => run.perSecond))]));
  const failed = [...figures.values()].flat().reduce((sum, run) => sum + run.failed, steady.failed);
  return {
    name,
    title,
    goals,
    perSecond,
    memoryMb: await memoryOf(candidates),
    steady: { p50Ms: steady.p50Ms, p99Ms: steady.p99Ms },
    failed,
  };
}

const memoryOf = async (candidates: readonly [string, Candidate][]): Promise<Record<string, number>> =>
  Object.fromEntries(await Promise.all(candidates.map(async ([who, candidate]) => [who, await candidate.memoryMb()] as const)));

const wanted = cases.filter(({ name }) => given.case === undefined || name === given.case);
const stage = await setStage({ orders: Number(given.orders), products: 10_000, users: 20_000 }, say);
try {
  const results: Result[] = [];
  for (const one of wanted) results.push(await measure(stage, one));
  const starts = given.case === undefined ? await measureStart(stage.directory, say) : undefined;
  process.stdout.write(`\n${table(results, starts)}\n`);
  if (given.case === undefined) {
    await writeFile('docs/benchmark.json', `${JSON.stringify({ rounds, seconds, connections, results, starts }, undefined, 2)}\n`);
    await writeFile('docs/benchmark.svg', chart(results));
  }
} finally {
  await stage.end();
}
