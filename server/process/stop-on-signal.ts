import type { Log } from '../log.ts';

/** On SIGINT or SIGTERM what has begun is finished, step by step; a second signal does not wait. */
export function stopOnSignal(closing: readonly (() => Promise<unknown>)[], log: Log): void {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    for (const close of closing) await close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, (received) => void stop(received));
}
