/**
 * `npm run overload -- 20` sends five times as many requests as the server can process, for the given number of seconds, and prints the
 * results. The load generator runs on the same machine, so it reduces the measured throughput.
 */
import { runClosedLoop, runAtConstantRate, percentile, type TimedResponse } from './load-generator.ts';
import { withRunningShop } from './running-shop.ts';

const times = 5;
const connections = 8;
const overloadMs = Number(process.argv[2] ?? 20) * 1000;
const calmMs = overloadMs / 2;
const fullMs = overloadMs / 4;

const isProcessed = ({ status }: TimedResponse): boolean => status === 200 || status === 201;
const isRejected = ({ status }: TimedResponse): boolean => status === 503 || status === 429;

function row(name: string, responses: readonly TimedResponse[], ms: number): string {
  const processed = responses.filter((response) => isProcessed(response));
  const rejected = responses.filter((response) => isRejected(response));
  const others = responses.length - processed.length - rejected.length;
  const perSecond = (of: readonly TimedResponse[]): string => (of.length / (ms / 1000)).toFixed(0);
  const latencies = (of: readonly TimedResponse[]): string =>
    of.length === 0 ? '' : `${percentile(of, 0.5).toFixed(1)} / ${percentile(of, 0.99).toFixed(1)}`;
  return `| ${[name, perSecond(responses), perSecond(processed), latencies(processed), perSecond(rejected), latencies(rejected), others].join(' | ')} |`;
}

await withRunningShop(async (shop) => {
  await runClosedLoop(shop, connections, fullMs); // warm-up
  const full = await runClosedLoop(shop, connections, fullMs);
  const capacity = full.length / (fullMs / 1000);
  const calm = await runAtConstantRate(shop, capacity / 5, calmMs);
  const overloaded = await runAtConstantRate(shop, capacity * times, overloadMs);
  const after: TimedResponse[][] = [];
  for (let second = 0; second < 5; second += 1) after.push(await runClosedLoop(shop, connections, 1_000));
  const lines = [
    '| load | sent/s | processed/s | processed, ms p50 / p99 | rejected/s | rejected, ms p50 / p99 | others |',
    '|---|---|---|---|---|---|---|',
    row('maximum throughput', full, fullMs),
    row('a fifth of the maximum', calm, calmMs),
    row(`${times} times the maximum`, overloaded, overloadMs),
    ...after.map((responses, second) => row(`second ${second + 1} after the overload`, responses, 1_000)),
  ];
  const ratio =
    percentile(
      overloaded.filter((response) => isProcessed(response)),
      0.99,
    ) /
    percentile(
      calm.filter((response) => isProcessed(response)),
      0.99,
    );
  process.stdout.write(
    `${lines.join('\n')}\n\nRatio of the p99 of processed requests, overload to a fifth of the maximum: ${ratio.toFixed(1)}\n`,
  );
});
