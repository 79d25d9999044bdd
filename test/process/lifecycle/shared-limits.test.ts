import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { obtainClientToken, createConfidentialClient } from '../../support/oauth/oauth-flow.ts';
import { hasRedis, startRedis, type RedisServer } from '../../support/services/redis-server.ts';
import { killServerProcesses, createDataDirectory } from '../../support/server/server-process.ts';
import { startServerPair, type ServerPair } from '../../support/server/server-pair.ts';
import { waitUntil } from '../../support/wait-until.ts';

const limit = 40;
const scopes = ['orders.read', 'orders.manage'] as const;

describe.skipIf(!hasRedis || databaseKind === 'pglite')('two processes with one Redis', { timeout: 120_000 }, () => {
  let redis: RedisServer;
  let processes: ServerPair;
  let directory: Awaited<ReturnType<typeof createDataDirectory>>;

  beforeAll(async () => {
    directory = await createDataDirectory();
    redis = await startRedis();
    processes = await startServerPair(directory.path, { REDIS_URL: redis.url, MANDATE_RATE_LIMIT: String(limit) });
  });
  afterAll(async () => {
    await processes?.close();
    await redis?.kill();
    await killServerProcesses();
    await directory?.[Symbol.asyncDispose]();
  });
  afterEach(() => redis.resume());

  /** Creates a client that has not sent any requests yet, and returns a function that sends a request as this client. */
  async function newCaller(): Promise<() => Promise<number>> {
    const token = await obtainClientToken(processes.origin, await createConfidentialClient(processes.db, scopes), scopes);
    return async () => {
      const response = await fetch(`${processes.origin}/api/v1/orders?limit=1`, { headers: { authorization: `Bearer ${token}` } });
      await response.arrayBuffer();
      return response.status;
    };
  }

  /** Sends requests, eight at a time, and counts the responses by status. */
  async function sendRequests(call: () => Promise<number>, times: number): Promise<Record<number, number>> {
    const counts: Record<number, number> = {};
    let left = times;
    const sendUntilDone = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const status = await call();
        counts[status] = (counts[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, sendUntilDone));
    return counts;
  }

  const warnings = (): number => processes.output().split('Redis is unreachable').length - 1;

  test('share one rate limit', async () => {
    expect(await sendRequests(await newCaller(), 3 * limit)).toEqual({ 200: limit, 429: 2 * limit });
  });

  test('apply separate limits while Redis is unavailable, and share one limit again afterwards', async () => {
    const call = await newCaller();
    expect(await sendRequests(call, 10)).toEqual({ 200: 10 });
    const pendingCounts = sendRequests(await newCaller(), 400);
    await redis.kill();
    const during = await pendingCounts;
    expect(Object.keys(during).filter((status) => status !== '200' && status !== '429')).toEqual([]);
    // while Redis is unavailable, each process counts requests separately
    const separateCounts = await sendRequests(await newCaller(), 3 * limit);
    expect(separateCounts).toEqual({ 200: 2 * limit, 429: limit });
    expect(warnings()).toBe(2); // each process logs one warning
    await redis.start();
    let sharedCounts: Record<number, number> = {};
    while (sharedCounts[200] !== limit) sharedCounts = await sendRequests(await newCaller(), 3 * limit);
    expect(sharedCounts).toEqual({ 200: limit, 429: 2 * limit });
  });

  test('return no 5xx status while Redis is killed and restarted repeatedly', async () => {
    const done = new AbortController();
    const counts: Record<number, number>[] = [];
    const load = (async () => {
      while (!done.signal.aborted) counts.push(await sendRequests(await newCaller(), 50));
    })();
    const waitForMoreRequests = async (): Promise<unknown> => {
      const finished = counts.length;
      return waitUntil(() => counts.length >= finished + 2);
    };
    for (let times = 0; times < 3; times += 1) {
      await redis.kill();
      await waitForMoreRequests();
      await redis.start();
      await waitForMoreRequests();
    }
    done.abort();
    await load;
    expect([...new Set(counts.flatMap((count) => Object.keys(count)))].filter((status) => status !== '200' && status !== '429')).toEqual(
      [],
    );
  });

  test('wait only briefly for an unresponsive Redis', async () => {
    const call = await newCaller();
    expect(await call()).toBe(200);
    redis.suspend();
    const startedAt = performance.now();
    expect(await sendRequests(call, 20)).toEqual({ 200: 20 });
    // this is not a performance check: without a timeout, the requests would never finish
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    redis.resume();
  });
});

describe.skipIf(databaseKind === 'pglite')('two processes without an available Redis', () => {
  test('start and serve requests', { timeout: 60_000 }, async () => {
    await using directory = await createDataDirectory();
    const processes = await startServerPair(directory.path, { REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      expect((await fetch(`${processes.origin}/api/v1/products`)).status).toBe(200);
    } finally {
      await processes.close();
    }
  });
});
