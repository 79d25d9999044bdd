import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisStage } from '../environments/redis-environment.ts';
import type { Fault } from '../scenario.ts';

const awayMs = 500;

/** It is gone for half a second: each server counts for itself, and nobody is refused. */
export const killRedis: Fault<RedisStage> = {
  name: 'kill-redis',
  title: '`kill -9` of Redis, back after half a second',
  async strike({ redis }) {
    const since = performance.now();
    await redis?.kill();
    await sleep(awayMs);
    await redis?.start();
    return { since };
  },
};
