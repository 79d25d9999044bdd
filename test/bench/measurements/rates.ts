import type { BenchmarkCase } from '../cases/benchmark-cases.ts';
import { measureThroughput, measureLatencyAtRate, median, type SteadyLatency } from './run-load.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import type { ServerName } from '../servers/target.ts';

export type Rates = {
  readonly name: string;
  /** Median rate over all rounds, for each server. */
  readonly perSecond: Readonly<Partial<Record<ServerName, number>>>;
  /** Our server's latency at a constant rate of 70% of its maximum throughput. */
  readonly steady: SteadyLatency;
  readonly failed: number;
};

export type Settings = { readonly rounds: number; readonly seconds: number; readonly connections: number };

/** Latency is measured at this fraction of the maximum throughput. */
const latencyTestShare = 0.7;

/** Measures all servers alternately in each round, so that other load on the machine affects them equally. */
export async function measureRates(
  environment: BenchmarkEnvironment,
  { name, subject, peers, traffic }: BenchmarkCase,
  { rounds, seconds, connections }: Settings,
  report: (progress: string) => void,
): Promise<Rates> {
  const servers = [subject, ...peers];
  const shots = async (server: ServerName, forSeconds: number) => {
    const target = await environment.target(server);
    return measureThroughput(target.measuredServer.origin, await traffic(target), connections, forSeconds);
  };
  for (const server of servers) await shots(server, Math.min(1, seconds)); // warm-up
  const perSecond = new Map<ServerName, number[]>(servers.map((server) => [server, []]));
  let failed = 0;
  for (let round = 1; round <= rounds; round += 1) {
    for (const server of servers) {
      report(`${name}: round ${round} of ${rounds}, ${server}`);
      const figures = await shots(server, seconds);
      perSecond.get(server)?.push(figures.perSecond);
      failed += figures.failed;
    }
  }
  report(`${name}: at ${latencyTestShare * 100} %`);
  const target = await environment.target(subject);
  const rate = median(perSecond.get(subject) ?? []) * latencyTestShare;
  const steady = await measureLatencyAtRate(target.measuredServer.origin, await traffic(target), connections, seconds, rate);
  const medians = Object.fromEntries([...perSecond].map(([server, figures]) => [server, median(figures)]));
  return { name, perSecond: medians, steady, failed: failed + steady.failed };
}
