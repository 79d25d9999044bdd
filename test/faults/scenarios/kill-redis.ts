import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisEnvironment } from '../environments/redis-environment.ts';
import type { Fault } from './scenario.ts';

const downtimeMs = 500;

/** Stops Redis for half a second, during which each server counts requests on its own and rejects none. */
export const killRedis: Fault<RedisEnvironment> = {
  name: 'kill-redis',
  title: '`kill -9` of Redis, restarted after half a second',
  async inject({ redis }) {
    const since = performance.now();
    await redis?.kill();
    await sleep(downtimeMs);
    await redis?.start();
    return { since };
  },
};
