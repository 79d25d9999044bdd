import { startStandby } from '../../support/services/postgresql-standby.ts';
import { openTcpProxy } from '../../support/network/tcp-proxy.ts';
import { cutCallers } from '../faults/client-network.ts';
import { cutDatabase, silenceDatabase, slowDatabase } from '../faults/database-network.ts';
import { failOver } from '../faults/failover.ts';
import type { Scene } from '../scenario.ts';
import { startDurablePostgresql, startServers } from './environment.ts';
import { followable, StandbyStage } from './standby-environment.ts';

async function openWithStandby(): Promise<StandbyStage> {
  const primary = await startDurablePostgresql({ settings: followable });
  const standby = await startStandby(primary, { durable: true, settings: followable, synchronous: true });
  const way = await openTcpProxy(primary.port);
  const url = new URL(primary.url);
  url.port = String(way.port);
  return new StandbyStage(await startServers(2, () => ({ DATABASE_URL: url.href })), primary, standby, way);
}

/** Two servers that reach their PostgreSQL by way of a proxy, and a standby that has everything that was confirmed. */
export const withStandby: Scene<StandbyStage> = {
  open: openWithStandby,
  faults: [failOver, cutDatabase, slowDatabase, silenceDatabase, cutCallers],
};
