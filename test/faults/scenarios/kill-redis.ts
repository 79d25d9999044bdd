import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisEnvironment } from '../environments/redis-environment.ts';
import type { Fault } from './scenario.ts';

const downtimeMs = 500;

/** Stops Redis for half a second. Each server counts requests itself during that time, and rejects no request. */
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
