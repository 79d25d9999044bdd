import cluster from 'node:cluster';
import type { Shutdown } from '../graceful-shutdown.ts';
import { parseStopMessage, readyMessage } from './supervisor-messages.ts';

/**
 * Obeys the supervisor that has started this process.
 * @returns a function that reports that this process has started
 */
export function connectToSupervisor(shutdown: Shutdown): () => void {
  let isReady = false;
  process.on('message', (message) => {
    const stop = parseStopMessage(message);
    if (!stop) return;
    // While the process is starting, it has no requests to finish.
    if (isReady) void shutdown.stop('supervisor', stop.replaced);
    else process.exit();
  });
  return () => {
    isReady = true;
    process.send?.(readyMessage);
  };
}

/** Ends the connection to the supervisor, which otherwise keeps this process alive. */
export const disconnectFromSupervisor = (): void => void cluster.worker?.disconnect();
