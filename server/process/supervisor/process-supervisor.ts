import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../logging/logger.ts';
import { SupervisedProcess } from './supervised-process.ts';

/** If a process exits within this time, its start counts as failed. */
const shortLifeMs = 10_000;
const maxRestartDelayMs = 30_000;

/** Starts several identical server processes, replaces processes that exit, and restarts or stops all processes. */
export class ProcessSupervisor {
  readonly #count: number;
  readonly #log: Log;
  readonly #running = new Set<SupervisedProcess>();
  readonly #stopping = new AbortController();
  #failedStarts = 0;
  #restart: Promise<void> = Promise.resolve();

  constructor(count: number, log: Log) {
    this.#count = count;
    this.#log = log;
  }

  /**
   * Starts one process, which migrates the database and creates the initial data, and then starts the other processes.
   * @returns false if the first process cannot start and has printed the reason
   */
  async start(): Promise<boolean> {
    const first = this.#startProcess();
    if (!(await first.isReady)) return false;
    void this.#replaceWhenExited(first);
    const others = Array.from({ length: this.#count - 1 }, () => this.#startProcess());
    for (const other of others) void this.#replaceWhenExited(other);
    await Promise.all(others.map((other) => other.isReady));
    return true;
  }

  /**
   * Replaces all processes, one after the other. A restart that is requested during another restart begins when the current restart has
   * finished.
   */
  restart(): Promise<void> {
    this.#restart = this.#restart.then(() => this.#replaceAll());
    return this.#restart;
  }

  /** Stops all processes after they have finished their requests. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#running].map((running) => running.stop({ replaced: false })));
  }

  kill(): void {
    for (const running of this.#running) running.kill();
  }

  #startProcess(): SupervisedProcess {
    const started = new SupervisedProcess();
    this.#running.add(started);
    void started.exited.then(() => this.#running.delete(started));
    return started;
  }

  async #replaceAll(): Promise<void> {
    const oldProcesses = [...this.#running];
    for (const old of oldProcesses) {
      if (this.#stopping.signal.aborted) return;
      if (!this.#running.has(old)) continue;
      const replacement = this.#startProcess();
      if (!(await replacement.isReady)) {
        if (!this.#stopping.signal.aborted) this.#log.error('the restart was canceled: the new process could not start');
        return;
      }
      void this.#replaceWhenExited(replacement);
      // If the old process has crashed in the meantime, it has already been replaced.
      const surplus = this.#running.has(old) ? old : replacement;
      await surplus.stop({ replaced: true });
      this.#log.info({ stopped: surplus.pid, started: replacement.pid }, 'server process replaced');
    }
  }

  async #replaceWhenExited(running: SupervisedProcess): Promise<void> {
    const { code, signal } = await running.exited;
    if (this.#stopping.signal.aborted || running.isStopping) return;
    const isShort = performance.now() - running.startedAt < shortLifeMs;
    this.#failedStarts = isShort ? this.#failedStarts + 1 : 0;
    const delayMs = isShort ? Math.min(maxRestartDelayMs, 500 * 2 ** this.#failedStarts) : 0;
    this.#log.error({ exited: running.pid, code, signal, delayMs }, 'a server process exited and will be restarted');
    await sleep(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    if (!this.#stopping.signal.aborted) void this.#replaceWhenExited(this.#startProcess());
  }
}
