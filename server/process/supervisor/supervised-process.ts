import cluster, { type Worker } from 'node:cluster';
import { isReadyMessage, type StopMessage } from './supervisor-messages.ts';

export type ProcessExit = { readonly code: number | null; readonly signal: string | null };

/** A server process that the supervisor has started. */
export class SupervisedProcess {
  readonly startedAt = performance.now();
  readonly exited: Promise<ProcessExit>;
  /** Resolves to true when the process serves requests, or to false if it exits earlier. */
  readonly isReady: Promise<boolean>;
  readonly #worker: Worker;
  #isStopping = false;

  constructor() {
    this.#worker = cluster.fork();
    // The error event reports that the process could not be started or signaled; an exit event follows.
    this.#worker.on('error', () => undefined);
    this.exited = new Promise((resolve) => this.#worker.once('exit', (code, signal) => resolve({ code, signal })));
    this.isReady = new Promise((resolve) => {
      this.#worker.on('message', (message) => void (isReadyMessage(message) && resolve(true)));
      void this.exited.then(() => resolve(false));
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** Whether the process was asked to stop, so that its exit is expected. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Asks the process to finish its requests and to exit, and waits until it has exited. */
  async stop({ replaced }: Pick<StopMessage, 'replaced'>): Promise<ProcessExit> {
    this.#isStopping = true;
    if (this.#worker.isConnected()) this.#worker.send({ type: 'mandate:stop', replaced } satisfies StopMessage);
    return this.exited;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}
