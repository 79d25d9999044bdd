import { startStandby } from '../support/postgresql-standby.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { cutCallers } from './cut-callers.ts';
import { cutDatabase, silenceDatabase, slowDatabase } from './cut-database.ts';
import { failOver } from './fail-over.ts';
import type { Scene } from './scene.ts';
import { startDurablePostgresql, startServers } from './stage.ts';
import { followable, StandbyStage } from './standby-stage.ts';

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
