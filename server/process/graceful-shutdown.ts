import type { Log } from '../logging/logger.ts';

/** Finishes the work in progress and closes everything. Repeated calls have no further effect. */
export class Shutdown {
  readonly #opened: AsyncDisposable;
  readonly #log: Log;
  #isReplaced = false;
  #stopped: Promise<void> | undefined;

  constructor(opened: AsyncDisposable, log: Log) {
    this.#opened = opened;
    this.#log = log;
  }

  /**
   * Whether another process of this server continues to serve requests, which means that load balancers do not need to notice the shutdown.
   */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  get isStopping(): boolean {
    return this.#stopped !== undefined;
  }

  stop(cause: NodeJS.Signals | 'supervisor', isReplaced = false): Promise<void> {
    if (this.#stopped) return this.#stopped;
    this.#isReplaced = isReplaced;
    this.#log.info(cause === 'supervisor' ? {} : { signal: cause }, 'stopping');
    this.#stopped = Promise.resolve(this.#opened[Symbol.asyncDispose]());
    return this.#stopped;
  }
}

/**
 * Shuts down on SIGINT or SIGTERM. After a second signal, the process exits immediately. A process that a supervisor controls ignores a
 * second signal, because a terminal or service manager can send the same signal to the supervisor and to this process.
 */
export function stopOnSignal(shutdown: Shutdown, log: Log, isSupervised: boolean): void {
  // Other modules reload files on SIGHUP. This listener prevents the signal from terminating a process in which no such module is active.
  process.on('SIGHUP', () => log.info('reloading files'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (shutdown.isStopping && !isSupervised) process.exit(1);
      void shutdown.stop(signal);
    });
  }
}
