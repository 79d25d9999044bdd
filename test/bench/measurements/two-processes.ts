import type { Candidate } from '../servers/server-under-test.ts';
import { readOrder } from '../cases.ts';
import type { Check } from '../report/threshold.ts';
import { fire, median } from './measure.ts';
import { ownProcessorSeconds } from './cpu-time.ts';
import type { Settings } from './rates.ts';
import type { Stage } from '../servers/environment.ts';

/** Of a round: orders read a second, and the share of one core that each part of the machine's work took. */
type Round = { readonly perSecond: number; readonly servers: number; readonly database: number; readonly load: number };

/**
 * Two processes on one database beside one, reading orders. The load is made on the same cores, so what the machine answers in all says little about
 * two processes. What is compared is what a second of processor time of servers and database together answers: if two processes did not
 * get in each other's way, it would be the same, and they would do twice as much on two cores as one with its database does on one.
 */
export async function measureTwoProcesses(stage: Stage, settings: Settings, report: (doing: string) => void): Promise<Check[]> {
  if ((await stage.databaseSeconds()) === undefined) {
    report('two-processes: left out, because the processor time of a PostgreSQL elsewhere is not known');
    return [];
  }
  const first = (await stage.target('mandate')).candidate;
  const second = await stage.start('mandate');
  try {
    const rounds: Record<'one' | 'two', Round[]> = { one: [], two: [] };
    // the second has just begun, and the first has long been at work: its code is compiled
    await measureRound(stage, [second], { ...settings, seconds: settings.seconds * 3 });
    for (let round = 1; round <= settings.rounds; round += 1) {
      report(`two-processes: round ${round} of ${settings.rounds}`);
      rounds.one.push(await measureRound(stage, [first], settings));
      rounds.two.push(await measureRound(stage, [first, second], settings));
    }
    return [checkOf(mediansOf(rounds.one), mediansOf(rounds.two))];
  } finally {
    await second.stop();
  }
}

async function measureRound(stage: Stage, servers: readonly Candidate[], { seconds, connections }: Settings): Promise<Round> {
  const traffic = await readOrder(await stage.target('mandate'));
  const used = async () => ({
    at: performance.now() / 1000,
    servers: (await Promise.all(servers.map((server) => server.cpuSeconds()))).reduce((sum, each) => sum + each, 0),
    database: (await stage.databaseSeconds()) ?? 0,
    load: await ownProcessorSeconds(),
  });
  const before = await used();
  const figures = await Promise.all(servers.map(({ origin }) => fire(origin, traffic, connections, seconds)));
  const after = await used();
  const took = after.at - before.at;
  return {
    perSecond: figures.reduce((sum, { perSecond }) => sum + perSecond, 0),
    servers: (after.servers - before.servers) / took,
    database: (after.database - before.database) / took,
    load: (after.load - before.load) / took,
  };
}

const mediansOf = (rounds: readonly Round[]): Round => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  servers: median(rounds.map(({ servers }) => servers)),
  database: median(rounds.map(({ database }) => database)),
  load: median(rounds.map(({ load }) => load)),
});

function checkOf(one: Round, two: Round): Check {
  // the system counts in steps of 10 ms, so that of a very short round nothing may be known
  const [workOfOne, workOfTwo] = [one, two].map(({ perSecond, servers, database }) => perSecond / Math.max(servers + database, 0.01));
  return {
    name: 'two-processes',
    title: 'two processes on two cores beside one, the load generator’s share taken out',
    value: (2 * (workOfTwo ?? 0)) / (workOfOne ?? 1),
    unit: 'x',
    goal: { atLeast: 1.7 },
    parts: {
      '/s, one process as it is': one.perSecond,
      '% of a core, its server': one.servers * 100,
      '% its database': one.database * 100,
      '% its load': one.load * 100,
      '/s, two as they are': two.perSecond,
      '% their servers': two.servers * 100,
      '% their database': two.database * 100,
      '% their load': two.load * 100,
    },
  };
}
