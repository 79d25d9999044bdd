import type { BenchmarkCase } from '../cases/benchmark-cases.ts';
import { closeSomeConnections } from '../load-generator/close-connections.ts';
import { measureThroughput, measureLatencyAtRate, median, type Latency } from './run-load.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import type { ServerName } from '../servers/target.ts';

type PerServer<Value> = Readonly<Partial<Record<ServerName, Value>>>;

export type Rates = {
  readonly name: string;
  /** Median rate over all rounds, for each server. */
  readonly perSecond: PerServer<number>;
  /** Median, over all rounds, of each server's 99th percentile response time at maximum throughput, in milliseconds. */
  readonly fullLoadP99Ms: PerServer<number>;
  /**
   * Latency of our server, and of the hand-written server if it is a peer, at a constant rate of 70% of our server's maximum throughput.
   */
  readonly steady: PerServer<Latency>;
  readonly failed: number;
};

export type Settings = { readonly rounds: number; readonly seconds: number; readonly connections: number };

/** Number of rounds that run before the first measured round, because V8 optimizes a server's functions during the first few seconds. */
const warmUpRounds = 3;

/** Fraction of the maximum throughput at which latency is measured. */
const latencyTestShare = 0.7;

/** Server with which our server's response times are compared, to show which times are possible on this machine. */
export const latencyPeer = 'floor';

/** Measures the servers in turn within each round, so that other load on the machine affects them equally. */
export async function measureRates(
  environment: BenchmarkEnvironment,
  { name, subject, peers, traffic }: BenchmarkCase,
  { rounds, seconds, connections }: Settings,
  report: (progress: string) => void,
): Promise<Rates> {
  const servers = [subject, ...peers];
  const load = async (server: ServerName) => {
    const target = await environment.target(server);
    return { origin: target.measuredServer.origin, traffic: closeSomeConnections(await traffic(target)) };
  };
  const shots = async (server: ServerName, forSeconds: number) => {
    const { origin, traffic: requests } = await load(server);
    return measureThroughput(origin, requests, connections, forSeconds);
  };
  for (const server of servers) await shots(server, warmUpRounds * seconds);
  const figures = new Map<ServerName, Awaited<ReturnType<typeof shots>>[]>(servers.map((server) => [server, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const server of servers) {
      report(`${name}: round ${round} of ${rounds}, ${server}`);
      figures.get(server)?.push(await shots(server, seconds));
    }
  }
  const medianOf = (select: (round: Awaited<ReturnType<typeof shots>>) => number): PerServer<number> =>
    Object.fromEntries([...figures].map(([server, all]) => [server, median(all.map(select))]));
  const perSecond = medianOf((round) => round.perSecond);
  const steady: Partial<Record<ServerName, Latency>> = {};
  for (const server of servers.filter((one) => one === subject || one === latencyPeer)) {
    report(`${name}: at ${latencyTestShare * 100} %, ${server}`);
    const { origin, traffic: requests } = await load(server);
    steady[server] = await measureLatencyAtRate(origin, requests, connections, seconds, (perSecond[subject] ?? 0) * latencyTestShare);
  }
  const failed = [...[...figures.values()].flat(), ...Object.values(steady)].reduce((sum, round) => sum + round.failed, 0);
  return { name, perSecond, fullLoadP99Ms: medianOf((round) => round.p99Ms), steady, failed };
}
