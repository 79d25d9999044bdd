import { once } from 'node:events';
import type { Server } from 'node:http';

/** Requests that are still running this long after the signal are given up. */
const graceMs = 10_000;

/** Takes no more connections, and waits for the requests that have begun. */
export async function finishRequests(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // closing the server leaves open connections alone, and over one of them requests could go on for ever
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  const leave = setInterval(() => server.closeIdleConnections(), 100);
  const giveUp = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(leave);
  clearTimeout(giveUp);
}
