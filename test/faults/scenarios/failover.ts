import { promoteStandby, startStandby } from '../../support/services/postgresql-standby.ts';
import type { Fault } from './scenario.ts';
import { standbySettings, type StandbyEnvironment } from '../environments/standby-environment.ts';

/**
 * Kills the primary permanently, promotes its standby, and directs the proxy to the standby. In production, Patroni or a cloud service must
 * first detect the failure, which takes additional seconds.
 */
export const failOver: Fault<StandbyEnvironment> = {
  name: 'failover',
  title: '`kill -9` of PostgreSQL, its synchronous standby promoted',
  async inject(environment) {
    const { postgresql: dead, standby, proxy } = environment;
    const since = performance.now();
    await dead.kill();
    await promoteStandby(standby);
    proxy.setTargetPort(standby.port);
    [environment.postgresql, environment.standby] = [standby, dead];
    return { since };
  },
  async restore(environment) {
    await environment.standby.stop();
    environment.standby = await startStandby(environment.postgresql, { durable: true, settings: standbySettings, synchronous: true });
    return undefined;
  },
};
