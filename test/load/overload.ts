/**
 * `npm run overload -- 20`: asks the server for five times as much as it can do, for so many seconds, and prints what came of it. The load is made on the
 * same machine, so it takes some of what it measures.
 */
import { closedLoop, openLoop, percentile, type Timed } from './load-generator.ts';
import { withShop } from './running-server.ts';

const times = 5;
const connections = 8;
const overloadMs = Number(process.argv[2] ?? 20) * 1000;
const calmMs = overloadMs / 2;
const fullMs = overloadMs / 4;

const isAnswered = ({ status }: Timed): boolean => status === 200 || status === 201;
const isRefused = ({ status }: Timed): boolean => status === 503 || status === 429;

function row(name: string, answers: readonly Timed[], ms: number): string {
  const answered = answers.filter((answer) => isAnswered(answer));
  const refused = answers.filter((answer) => isRefused(answer));
  const others = answers.length - answered.length - refused.length;
  const perSecond = (of: readonly Timed[]): string => (of.length / (ms / 1000)).toFixed(0);
  const took = (of: readonly Timed[]): string =>
    of.length === 0 ? '' : `${percentile(of, 0.5).toFixed(1)} / ${percentile(of, 0.99).toFixed(1)}`;
  return `| ${[name, perSecond(answers), perSecond(answered), took(answered), perSecond(refused), took(refused), others].join(' | ')} |`;
}

await withShop(async (shop) => {
  await closedLoop(shop, connections, fullMs); // warm
  const full = await closedLoop(shop, connections, fullMs);
  const capacity = full.length / (fullMs / 1000);
  const calm = await openLoop(shop, capacity / 5, calmMs);
  const over = await openLoop(shop, capacity * times, overloadMs);
  const after: Timed[][] = [];
  for (let second = 0; second < 5; second += 1) after.push(await closedLoop(shop, connections, 1_000));
  const lines = [
    '| | asked/s | answered/s | answered, ms p50 / p99 | refused/s | refused, ms p50 / p99 | neither |',
    '|---|---|---|---|---|---|---|',
    row('as much as it can do', full, fullMs),
    row('a fifth of it', calm, calmMs),
    row(`${times} times as much`, over, overloadMs),
    ...after.map((answers, second) => row(`second ${second + 1} after it`, answers, 1_000)),
  ];
  const ratio =
    percentile(
      over.filter((answer) => isAnswered(answer)),
      0.99,
    ) /
    percentile(
      calm.filter((answer) => isAnswered(answer)),
      0.99,
    );
  process.stdout.write(`${lines.join('\n')}\n\np99 of what was answered, overloaded to calm: ${ratio.toFixed(1)}\n`);
});
