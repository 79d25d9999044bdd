import type { Case } from '../cases.ts';
import { fire, fireSteadily, median, type Steady } from './measure.ts';
import type { Stage } from '../servers/environment.ts';
import type { ServerName } from '../servers/target.ts';

export type Rates = {
  readonly name: string;
  /** Medians of the rounds, by server. */
  readonly perSecond: Readonly<Partial<Record<ServerName, number>>>;
  /** Of our server at 70 % of its maximum, at a constant rate. */
  readonly steady: Steady;
  readonly failed: number;
};

export type Settings = { readonly rounds: number; readonly seconds: number; readonly connections: number };

/** How much of what it can do is asked of it while latency is measured. */
const steadyShare = 0.7;

/** All servers in turns, round after round, so that whatever else the machine does hits them alike. */
export async function measureRates(
  stage: Stage,
  { name, subject, peers, traffic }: Case,
  { rounds, seconds, connections }: Settings,
  report: (doing: string) => void,
): Promise<Rates> {
  const servers = [subject, ...peers];
  const shots = async (server: ServerName, forSeconds: number) => {
    const target = await stage.target(server);
    return fire(target.candidate.origin, await traffic(target), connections, forSeconds);
  };
  for (const server of servers) await shots(server, Math.min(1, seconds)); // warm
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
  report(`${name}: at ${steadyShare * 100} %`);
  const target = await stage.target(subject);
  const rate = median(perSecond.get(subject) ?? []) * steadyShare;
  const steady = await fireSteadily(target.candidate.origin, await traffic(target), connections, seconds, rate);
  const medians = Object.fromEntries([...perSecond].map(([server, figures]) => [server, median(figures)]));
  return { name, perSecond: medians, steady, failed: failed + steady.failed };
}
