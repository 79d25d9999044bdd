import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Requests that are still running this long after no more are taken are given up. */
const graceMs = 10_000;

/**
 * Takes no more connections, and waits for the requests that have begun.
 * @param delayMs how long everything is taken as before, so that whoever sends requests here can notice that it ends
 * @param onClosing called when that is over
 */
export async function finishRequests(server: Server, delayMs = 0, onClosing: () => void = () => undefined): Promise<void> {
  // closing the server leaves open connections alone, and over one of them requests could go on for ever
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  await sleep(delayMs);
  onClosing();
  const closed = once(server, 'close');
  server.close();
  const leave = setInterval(() => server.closeIdleConnections(), 100);
  const giveUp = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(leave);
  clearTimeout(giveUp);
}
