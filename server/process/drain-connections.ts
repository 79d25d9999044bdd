import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long requests in progress may continue after the server has stopped accepting connections, in milliseconds. */
const graceMs = 10_000;

/**
 * Stops accepting connections and waits for the requests in progress.
 * @param delayMs how long new connections are still accepted, so that load balancers can notice the shutdown
 * @param onClosing called when the server stops accepting connections
 */
export async function drainConnections(server: Server, delayMs = 0, onClosing: () => void = () => undefined): Promise<void> {
  // Closing the server does not close open keep-alive connections, over which clients could send new requests indefinitely.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  await sleep(delayMs);
  onClosing();
  const closed = once(server, 'close');
  server.close();
  const idleTimer = setInterval(() => server.closeIdleConnections(), 100);
  const forceTimer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(idleTimer);
  clearTimeout(forceTimer);
}
