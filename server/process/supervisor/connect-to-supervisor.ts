import cluster from 'node:cluster';
import type { Config } from '../../config/read-config.ts';
import { parseStopMessage, readyMessage } from './supervisor-messages.ts';

/** Returns whether Mandate's own supervisor has started this process. Process managers such as PM2 also use the cluster module. */
export const isSupervised = ({ processes }: Config): boolean => cluster.isWorker && processes > 1;

/**
 * Follows the instructions of the supervisor that started this process.
 * @param stop finishes the requests and closes everything
 * @returns a function that reports that this process has started
 */
export function connectToSupervisor(stop: (isReplaced: boolean) => unknown): () => void {
  let isReady = false;
  process.on('message', (message) => {
    const stopMessage = parseStopMessage(message);
    if (!stopMessage) return;
    // While the process is starting, it has no requests to finish.
    if (isReady) stop(stopMessage.replaced);
    else process.exit();
  });
  return () => {
    isReady = true;
    process.send?.(readyMessage);
  };
}

/** Closes the connection to the supervisor, which would otherwise keep this process alive. */
export const disconnectFromSupervisor = (): void => void cluster.worker?.disconnect();
