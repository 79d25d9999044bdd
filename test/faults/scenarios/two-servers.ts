import { hasRedis, startRedis } from '../../support/services/redis-server.ts';
import { exhaustConnections } from './exhaust-connections.ts';
import { killPostgresql, restartPostgresql } from './kill-postgresql.ts';
import { killRedis } from './kill-redis.ts';
import { killServer, killServers } from './kill-server.ts';
import { killWorker } from './kill-worker.ts';
import { RedisEnvironment } from '../environments/redis-environment.ts';
import type { Fault, Scenario } from './scenario.ts';
import { startDurablePostgresql, startServers } from '../environments/environment.ts';

/** Connection limit of PostgreSQL; each server opens at most ten connections. */
const connections = 40;

export async function openTwoServers(): Promise<RedisEnvironment> {
  const postgresql = await startDurablePostgresql({ settings: [`max_connections=${connections}`] });
  const redis = hasRedis ? await startRedis() : undefined;
  const env = { DATABASE_URL: postgresql.url, ...(redis && { REDIS_URL: redis.url }) };
  return new RedisEnvironment(await startServers(2, () => env), postgresql, redis);
}

const faults: readonly Fault<RedisEnvironment>[] = [
  killServer,
  killServers,
  killWorker,
  killPostgresql,
  restartPostgresql,
  exhaustConnections,
];

export const twoServerScenario: Scenario<RedisEnvironment> = { open: openTwoServers, faults: hasRedis ? [...faults, killRedis] : faults };
