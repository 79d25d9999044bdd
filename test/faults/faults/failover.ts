import { promote, startStandby } from '../../support/services/postgresql-standby.ts';
import type { Fault } from '../scenario.ts';
import { followable, type StandbyStage } from '../environments/standby-environment.ts';

/**
 * The primary is killed and never comes back; its standby is promoted, and the way of the servers leads there. What decides and
 * does this elsewhere (Patroni, a cloud) takes its own seconds to notice; here it is told.
 */
export const failOver: Fault<StandbyStage> = {
  name: 'failover',
  title: '`kill -9` of PostgreSQL, its synchronous standby promoted',
  async strike(stage) {
    const { postgresql: dead, standby, way } = stage;
    const since = performance.now();
    await dead.kill();
    await promote(standby);
    way.lead(standby.port);
    [stage.postgresql, stage.standby] = [standby, dead];
    return { since };
  },
  async afterwards(stage) {
    await stage.standby.stop();
    stage.standby = await startStandby(stage.postgresql, { durable: true, settings: followable, synchronous: true });
    return undefined;
  },
};
