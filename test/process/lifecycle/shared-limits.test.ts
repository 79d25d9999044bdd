import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { clientCredentials, confidentialClient } from '../../support/oauth/oauth-flow.ts';
import { hasRedis, startRedis, type RedisServer } from '../../support/services/redis-server.ts';
import { endServerProcesses, temporaryDataDirectory } from '../../support/server/server-process.ts';
import { startTwoProcesses, type TwoProcesses } from '../../support/server/two-processes.ts';

const limit = 40;
const scopes = ['orders.read', 'orders.manage'] as const;

describe.skipIf(!hasRedis || databaseKind === 'pglite')('two processes with one Redis', { timeout: 120_000 }, () => {
  let redis: RedisServer;
  let pair: TwoProcesses;
  let directory: Awaited<ReturnType<typeof temporaryDataDirectory>>;

  beforeAll(async () => {
    directory = await temporaryDataDirectory();
    redis = await startRedis();
    pair = await startTwoProcesses(directory.path, { REDIS_URL: redis.url, MANDATE_RATE_LIMIT: String(limit) });
  });
  afterAll(async () => {
    await pair?.close();
    await redis?.kill();
    endServerProcesses();
    await directory?.[Symbol.asyncDispose]();
  });
  afterEach(() => redis.goOn());

  /** A caller that nobody has counted for yet. */
  async function newCaller(): Promise<() => Promise<number>> {
    const token = await clientCredentials(pair.origin, await confidentialClient(pair.db, scopes), scopes);
    return async () => {
      const answer = await fetch(`${pair.origin}/api/v1/orders?limit=1`, { headers: { authorization: `Bearer ${token}` } });
      await answer.arrayBuffer();
      return answer.status;
    };
  }

  /** How many of each status came, to so many requests, eight at a time. */
  async function ask(call: () => Promise<number>, times: number): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    let left = times;
    const one = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const status = await call();
        counts[status] = (counts[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, one));
    return counts;
  }

  const warnings = (): number => pair.output().split('Redis cannot be reached').length - 1;

  test('allow together what one allows, and not twice as much', async () => {
    expect(await ask(await newCaller(), 3 * limit)).toEqual({ 200: limit, 429: 2 * limit });
  });

  test('go on, each with the limit for itself, when Redis is killed; and count together again when it is back', async () => {
    const call = await newCaller();
    expect(await ask(call, 10)).toEqual({ 200: 10 });
    const under = ask(await newCaller(), 400);
    await redis.kill();
    const during = await under;
    expect(Object.keys(during).filter((status) => status !== '200' && status !== '429')).toEqual([]);
    // both processes count anew, and each for itself
    const alone = await ask(await newCaller(), 3 * limit);
    expect(alone).toEqual({ 200: 2 * limit, 429: limit });
    expect(warnings()).toBe(2); // one of each process
    await redis.start();
    let together: Record<number, number> = {};
    while (together[200] !== limit) together = await ask(await newCaller(), 3 * limit);
    expect(together).toEqual({ 200: limit, 429: 2 * limit });
  });

  test('answer no 5xx while Redis is killed and started again and again', async () => {
    const done = new AbortController();
    const counts: Record<number, number>[] = [];
    const load = (async () => {
      while (!done.signal.aborted) counts.push(await ask(await newCaller(), 50));
    })();
    for (let times = 0; times < 3; times += 1) {
      await redis.kill();
      await new Promise((resolve) => setTimeout(resolve, 300));
      await redis.start();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    done.abort();
    await load;
    expect([...new Set(counts.flatMap((one) => Object.keys(one)))].filter((status) => status !== '200' && status !== '429')).toEqual([]);
  });

  test('wait for a Redis that hangs no longer than a moment', async () => {
    const call = await newCaller();
    expect(await call()).toBe(200);
    redis.freeze();
    const begun = performance.now();
    expect(await ask(call, 20)).toEqual({ 200: 20 });
    // not a measure of speed: it would be for ever
    expect(performance.now() - begun).toBeLessThan(15_000);
    redis.goOn();
  });
});

describe.skipIf(databaseKind === 'pglite')('a Redis that is not there', () => {
  test('keeps no process from starting and serving', { timeout: 60_000 }, async () => {
    await using directory = await temporaryDataDirectory();
    const pair = await startTwoProcesses(directory.path, { REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      expect((await fetch(`${pair.origin}/api/v1/products`)).status).toBe(200);
    } finally {
      await pair.close();
    }
  });
});
