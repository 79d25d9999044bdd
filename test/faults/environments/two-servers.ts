import { hasRedis, startRedis } from '../../support/services/redis-server.ts';
import { exhaustConnections } from '../faults/connection-exhaustion.ts';
import { killPostgresql, restartPostgresql } from '../faults/kill-postgresql.ts';
import { killRedis } from '../faults/kill-redis.ts';
import { killServer, killServers } from '../faults/kill-server.ts';
import { killWorker } from '../faults/kill-worker.ts';
import { RedisStage } from './redis-environment.ts';
import type { Fault, Scene } from '../scenario.ts';
import { startDurablePostgresql, startServers } from './environment.ts';

/** Each server takes at most ten. */
const connections = 40;

export async function openTwoServers(): Promise<RedisStage> {
  const postgresql = await startDurablePostgresql({ settings: [`max_connections=${connections}`] });
  const redis = hasRedis ? await startRedis() : undefined;
  const env = { DATABASE_URL: postgresql.url, ...(redis && { REDIS_URL: redis.url }) };
  return new RedisStage(await startServers(2, () => env), postgresql, redis);
}

const faults: readonly Fault<RedisStage>[] = [killServer, killServers, killWorker, killPostgresql, restartPostgresql, exhaustConnections];

export const twoServers: Scene<RedisStage> = { open: openTwoServers, faults: hasRedis ? [...faults, killRedis] : faults };
