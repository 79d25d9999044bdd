import { PatroniCluster, type PatroniNode, whyNoPatroni } from '../../support/services/patroni-cluster.ts';
import { administer } from '../../support/services/postgresql-databases.ts';
import type { Load } from '../traffic/load.ts';
import type { Fault, Scene } from '../scenario.ts';
import { Stage, startServers, type StageParts } from '../environments/environment.ts';

/** Two servers on a cluster that Patroni manages. */
class PatroniStage extends Stage {
  readonly cluster: PatroniCluster;
  struckAt = 0;
  /** The node whose leader was killed last. */
  killed: PatroniNode | undefined;
  readonly #pids: readonly (number | undefined)[];

  constructor(parts: StageParts, cluster: PatroniCluster) {
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
    return administer(this.cluster.directUrl, text);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.cluster[Symbol.asyncDispose]();
  }
}

/** The same processes still run, and what was acknowledged shows how long no write succeeded. */
function outcomeOf(stage: PatroniStage, { ledger }: Load): string {
  stage.expectSameProcesses();
  const ended = ledger.acknowledgements.map((write) => write.ended).filter((at) => at >= stage.struckAt);
  const pauses = [stage.struckAt, ...ended.toSorted((a, b) => a - b)].map((at, index, all) => at - (all[index - 1] ?? at));
  return `${(Math.max(...pauses) / 1_000).toFixed(1)} s without writes, no server restarted`;
}

const killLeader: Fault<PatroniStage> = {
  name: 'patroni-leader',
  title: '`kill -9` of the leader of a Patroni cluster, behind HAProxy and PgBouncer',
  async strike(stage) {
    stage.struckAt = performance.now();
    stage.killed = await stage.cluster.killLeader();
    return { since: stage.struckAt };
  },
  async afterwards(stage, { load }) {
    const outcome = outcomeOf(stage, load);
    if (stage.killed !== undefined) await stage.cluster.revive(stage.killed);
    return outcome;
  },
};

const switchOver: Fault<PatroniStage> = {
  name: 'patroni-switchover',
  title: 'planned switchover of a Patroni cluster, behind HAProxy and PgBouncer',
  async strike(stage) {
    stage.struckAt = performance.now();
    await stage.cluster.switchOver();
    return { since: performance.now() };
  },
  async afterwards(stage, { load }) {
    await stage.cluster.untilComplete();
    return outcomeOf(stage, load);
  },
};

async function openPatroni(): Promise<PatroniStage> {
  const cluster = await PatroniCluster.start();
  const env = { DATABASE_URL: cluster.url, DATABASE_DIRECT_URL: cluster.directUrl };
  return new PatroniStage(await startServers(2, () => env), cluster);
}

/** The example of docs/operations.md. */
export const patroni: Scene<PatroniStage> = { missing: whyNoPatroni, open: openPatroni, faults: [killLeader, switchOver] };
