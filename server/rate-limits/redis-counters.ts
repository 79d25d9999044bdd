import { createClient } from '@redis/client';
import type { Log } from '../logging/logger.ts';

export type SharedCounters = {
  readonly client: ReturnType<typeof newClient>;
  /** What the keys of this installation begin with: others may use the same Redis. */
  readonly prefix: string;
  close(): Promise<void>;
};

const warningEveryMs = 60_000;

/**
 * A Redis that several processes count in. It does not wait for it: a request finds it there, or goes on without it.
 * @param url `redis://user:password@host:6379/0`
 */
export function openSharedCounters(url: string, prefix: string, log: Log): SharedCounters {
  const client = newClient(url);
  let [away, warnedAt] = [false, Number.NEGATIVE_INFINITY];
  client.on('error', (error: unknown) => {
    away = true;
    if (performance.now() - warnedAt < warningEveryMs) return;
    warnedAt = performance.now();
    log.warn({ err: error }, 'Redis cannot be reached: until it can, each process limits requests for itself');
  });
  client.on('ready', () => {
    if (away) log.info('Redis is back: the processes limit requests together again');
    away = false;
  });
  // it tries again by itself, and says so above
  client.connect().catch(() => undefined);
  return {
    client,
    prefix,
    async close() {
      client.destroy();
    },
  };
}

/** Throws unless a Redis answers there, and takes a few seconds to find out. */
export async function reachSharedCounters(url: string): Promise<void> {
  const client = createClient({ url, socket: { connectTimeout: 5_000, socketTimeout: 5_000, reconnectStrategy: false } });
  client.on('error', () => undefined); // it is thrown, too
  try {
    await client.connect();
    await client.ping();
  } finally {
    if (client.isOpen) client.destroy();
  }
}

const newClient = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    // a Redis that is there and says nothing is noticed by the ping, and given up after the timeout
    pingInterval: 200,
    socket: { connectTimeout: 500, socketTimeout: 500, reconnectStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000) },
  });
