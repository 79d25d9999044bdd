import type { createClient } from '@redis/client';
import type { Log } from '../logging/logger.ts';
import { importModuleRequiringOptionalPackages } from '../optional-packages/import-module-requiring-optional-packages.ts';

type CreateClient = typeof createClient;

export type RedisCounterConnection = {
  readonly client: ReturnType<typeof createRedisClient>;
  /** Key prefix that distinguishes this installation from others that use the same Redis server. */
  readonly prefix: string;
  close(): Promise<void>;
};

const warningIntervalMs = 60_000;

/**
 * Connects to the Redis server that several processes use to count requests. The function does not wait for the connection, because
 * requests are served without Redis until the connection is established.
 * @param url `redis://user:password@host:6379/0`
 */
export async function openRedisCounterConnection(url: string, prefix: string, log: Log): Promise<RedisCounterConnection> {
  const client = createRedisClient(await importCreateClient(), url);
  let [isUnreachable, lastWarningAt] = [false, Number.NEGATIVE_INFINITY];
  client.on('error', (error: unknown) => {
    isUnreachable = true;
    if (performance.now() - lastWarningAt < warningIntervalMs) return;
    lastWarningAt = performance.now();
    log.warn({ err: error }, 'Redis is unreachable: until it responds, each process counts requests separately');
  });
  client.on('ready', () => {
    if (isUnreachable) log.info('Redis is reachable again: all processes share request counts');
    isUnreachable = false;
  });
  // the client reconnects by itself, and the listener above logs errors
  client.connect().catch(() => undefined);
  return {
    client,
    prefix,
    async close() {
      client.destroy();
    },
  };
}

/** Checks that Redis responds. @throws after a few seconds if Redis does not respond */
export async function pingRedis(url: string): Promise<void> {
  const createRedis = await importCreateClient();
  const client = createRedis({ url, socket: { connectTimeout: 5_000, socketTimeout: 5_000, reconnectStrategy: false } });
  client.on('error', () => undefined); // the error is also thrown by `connect`
  try {
    await client.connect();
    await client.ping();
  } finally {
    if (client.isOpen) client.destroy();
  }
}

const importCreateClient = async (): Promise<CreateClient> =>
  (await importModuleRequiringOptionalPackages('REDIS_URL', '@redis/client', () => import('@redis/client'))).createClient;

const createRedisClient = (createRedis: CreateClient, url: string) =>
  createRedis({
    url,
    disableOfflineQueue: true,
    // detects an unresponsive Redis server within the socket timeout
    pingInterval: 200,
    socket: { connectTimeout: 500, socketTimeout: 500, reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000) },
  });
