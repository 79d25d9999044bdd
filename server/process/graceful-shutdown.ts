import type { Log } from '../logging/logger.ts';

/** On SIGINT or SIGTERM what has begun is finished, then everything is closed; a second signal does not wait. */
export function stopOnSignal(opened: AsyncDisposable, log: Log): void {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    await opened[Symbol.asyncDispose]();
  };
  // elsewhere it means to read files again, and must not end a process that has none
  process.on('SIGHUP', () => log.info('told to read its files again'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, (received) => void stop(received));
}
