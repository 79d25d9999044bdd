import { startStandby } from '../../support/services/postgresql-standby.ts';
import { openTcpProxy } from '../../support/network/tcp-proxy.ts';
import { cutCallers } from './client-network-faults.ts';
import { cutDatabase, silenceDatabase, slowDatabase } from './database-network-faults.ts';
import { failOver } from './failover.ts';
import type { Scenario } from './scenario.ts';
import { startDurablePostgresql, startServers } from '../environments/environment.ts';
import { standbySettings, StandbyEnvironment } from '../environments/standby-environment.ts';

async function openWithStandby(): Promise<StandbyEnvironment> {
  const primary = await startDurablePostgresql({ settings: standbySettings });
  const standby = await startStandby(primary, { durable: true, settings: standbySettings, synchronous: true });
  const proxy = await openTcpProxy(primary.port);
  const url = new URL(primary.url);
  url.port = String(proxy.port);
  return new StandbyEnvironment(await startServers(2, () => ({ DATABASE_URL: url.href })), primary, standby, proxy);
}

/** Two servers that reach PostgreSQL through a proxy, and a synchronous standby. */
export const standbyScenario: Scenario<StandbyEnvironment> = {
  open: openWithStandby,
  faults: [failOver, cutDatabase, slowDatabase, silenceDatabase, cutCallers],
};
