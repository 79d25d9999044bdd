import type { Log } from '../logging/logger.ts';

/** On SIGINT or SIGTERM, finishes the work in progress and closes everything; a second signal exits immediately. */
export function stopOnSignal(opened: AsyncDisposable, log: Log): void {
  let isStopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, 'stopping');
    await opened[Symbol.asyncDispose]();
  };
  // Other modules reload files on SIGHUP; without this listener, the signal would terminate a process in which no module listens.
  process.on('SIGHUP', () => log.info('reloading files'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, (received) => void stop(received));
}
