import type { MeasuredServer } from '../servers/measured-server.ts';
import { readOwnOrdersTraffic } from '../cases/api-traffic.ts';
import type { Check } from './check.ts';
import { measureThroughput, median } from './run-load.ts';
import { currentProcessCpuSeconds } from '../servers/cpu-time.ts';
import type { Settings } from './rates.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';

/** Result of a round: orders read per second, and each component's CPU use, in cores. */
type Round = { readonly perSecond: number; readonly servers: number; readonly database: number; readonly load: number };

/**
 * Compares a server that runs two processes with one that runs a single process, on the same database, while clients read orders. The CPU
 * time of two processes includes the supervisor, which distributes connections and counts requests. The load generator uses the same cores,
 * so total throughput does not show the effect of a second process. We therefore compare how much CPU time the servers and the database
 * need per read. The result is the same for one process and for two if the processes do not slow each other down. In that case, two
 * processes on two cores double the throughput.
 */
export async function measureTwoProcesses(
  environment: BenchmarkEnvironment,
  settings: Settings,
  report: (progress: string) => void,
): Promise<Check[]> {
  if ((await environment.databaseCpuSeconds()) === undefined) {
    report('two-processes: skipped, because the CPU time of a remote PostgreSQL is unknown');
    return [];
  }
  const oneProcess = (await environment.target('mandate')).measuredServer;
  const twoProcesses = await environment.startProcesses(2);
  try {
    const rounds: Record<'one' | 'two', Round[]> = { one: [], two: [] };
    const ofTwo = { ...settings, connections: settings.connections * 2 };
    // warm-up: the first server has already compiled its code
    await measureRound(environment, twoProcesses, { ...ofTwo, seconds: settings.seconds * 6 });
    for (let round = 1; round <= settings.rounds; round += 1) {
      report(`two-processes: round ${round} of ${settings.rounds}`);
      rounds.one.push(await measureRound(environment, oneProcess, settings));
      rounds.two.push(await measureRound(environment, twoProcesses, ofTwo));
    }
    return [compareProcesses(roundMedians(rounds.one), roundMedians(rounds.two))];
  } finally {
    await twoProcesses.stop();
  }
}

async function measureRound(environment: BenchmarkEnvironment, server: MeasuredServer, { seconds, connections }: Settings): Promise<Round> {
  const traffic = await readOwnOrdersTraffic(await environment.target('mandate'));
  const used = async () => ({
    at: performance.now() / 1000,
    servers: await server.cpuSeconds(),
    database: (await environment.databaseCpuSeconds()) ?? 0,
    load: await currentProcessCpuSeconds(),
  });
  const before = await used();
  const { perSecond } = await measureThroughput(server.origin, traffic, connections, seconds);
  const after = await used();
  const took = after.at - before.at;
  return {
    perSecond,
    servers: (after.servers - before.servers) / took,
    database: (after.database - before.database) / took,
    load: (after.load - before.load) / took,
  };
}

const roundMedians = (rounds: readonly Round[]): Round => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  servers: median(rounds.map(({ servers }) => servers)),
  database: median(rounds.map(({ database }) => database)),
  load: median(rounds.map(({ load }) => load)),
});

function compareProcesses(one: Round, two: Round): Check {
  // the system counts CPU time in steps of 10 ms, so the result of a very short round may be 0
  const [throughputPerCpuSecondOfOne, throughputPerCpuSecondOfTwo] = [one, two].map(
    ({ perSecond, servers, database }) => perSecond / Math.max(servers + database, 0.01),
  );
  return {
    name: 'two-processes',
    title: 'two processes on two cores compared with one, without the load generator’s CPU time',
    value: (2 * (throughputPerCpuSecondOfTwo ?? 0)) / (throughputPerCpuSecondOfOne ?? 1),
    unit: 'x',
    goal: { atLeast: 1.7 },
    parts: {
      '/s, one process': one.perSecond,
      '% of a core, server': one.servers * 100,
      '% database': one.database * 100,
      '% load generator': one.load * 100,
      '/s, two processes': two.perSecond,
      '% servers': two.servers * 100,
      '% database, two processes': two.database * 100,
      '% load generator, two processes': two.load * 100,
    },
  };
}
