import { PatroniCluster, type PatroniNode, patroniUnavailableReason } from '../../support/services/patroni-cluster.ts';
import { runAdminSql } from '../../support/services/postgresql-databases.ts';
import type { Load } from '../traffic/load.ts';
import type { Fault, Scenario } from './scenario.ts';
import { FaultEnvironment, startServers, type EnvironmentParts } from '../environments/environment.ts';

/** Two servers on a Patroni cluster. */
class PatroniEnvironment extends FaultEnvironment {
  readonly cluster: PatroniCluster;
  injectedAt = 0;
  /** The most recently killed leader. */
  killed: PatroniNode | undefined;
  readonly #pids: readonly (number | undefined)[];

  constructor(parts: EnvironmentParts, cluster: PatroniCluster) {
    super(parts);
    this.cluster = cluster;
    this.#pids = this.servers.map(({ pid }) => pid);
  }

  /** @throws if a server was restarted */
  expectSameProcesses(): void {
    if (this.servers.some(({ pid }, index) => pid !== this.#pids[index])) throw new Error('a server was restarted');
    for (const pid of this.#pids) if (pid !== undefined) process.kill(pid, 0);
  }

  override sql(text: string): Promise<readonly object[]> {
    return runAdminSql(this.cluster.directUrl, text);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.cluster[Symbol.asyncDispose]();
  }
}

/** Checks that no server process was restarted, and reports the longest period without a successful write. */
function outcomeOf(environment: PatroniEnvironment, { ledger }: Load): string {
  environment.expectSameProcesses();
  const ended = ledger.acknowledgements.map((write) => write.ended).filter((at) => at >= environment.injectedAt);
  const pauses = [environment.injectedAt, ...ended.toSorted((a, b) => a - b)].map((at, index, all) => at - (all[index - 1] ?? at));
  return `${(Math.max(...pauses) / 1_000).toFixed(1)} s without writes, no server restarted`;
}

const killLeader: Fault<PatroniEnvironment> = {
  name: 'patroni-leader',
  title: '`kill -9` of the leader of a Patroni cluster, behind HAProxy and PgBouncer',
  async inject(environment) {
    environment.injectedAt = performance.now();
    environment.killed = await environment.cluster.killLeader();
    return { since: environment.injectedAt };
  },
  async restore(environment, { load }) {
    const outcome = outcomeOf(environment, load);
    if (environment.killed !== undefined) await environment.cluster.restartNode(environment.killed);
    return outcome;
  },
};

const switchOver: Fault<PatroniEnvironment> = {
  name: 'patroni-switchover',
  title: 'planned switchover of a Patroni cluster, behind HAProxy and PgBouncer',
  async inject(environment) {
    environment.injectedAt = performance.now();
    await environment.cluster.switchOver();
    return { since: performance.now() };
  },
  async restore(environment, { load }) {
    await environment.cluster.waitUntilComplete();
    return outcomeOf(environment, load);
  },
};

async function openPatroni(): Promise<PatroniEnvironment> {
  const cluster = await PatroniCluster.start();
  const env = { DATABASE_URL: cluster.url, DATABASE_DIRECT_URL: cluster.directUrl };
  return new PatroniEnvironment(await startServers(2, () => env), cluster);
}

/** Faults in the Patroni cluster that docs/operations.md describes as an example. */
export const patroniScenario: Scenario<PatroniEnvironment> = {
  missing: patroniUnavailableReason,
  open: openPatroni,
  faults: [killLeader, switchOver],
};
