import { setTimeout as sleep } from 'node:timers/promises';
import { isLowDiskSpaceRejectionError } from '../database/storage/disk-space-monitor.ts';
import type { Log } from '../logging/logger.ts';

/** Work that runs repeatedly. Each run checks whether any work is pending. */
export type Job = {
  readonly name: string;
  /** Interval between two runs; a function if the interval varies. */
  readonly everyMs: number | (() => number);
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** Subscribes to notifications about new work, and returns a function that unsubscribes. */
  readonly onWork?: (wake: () => void) => () => void;
  /** Minimum time between the starts of two runs (default: 0). */
  readonly minIntervalMs?: number;
};

export type JobRunner = {
  /** Runs all jobs immediately, without waiting for their next interval. */
  wake(): void;
  /** Stops all jobs and waits for runs in progress. */
  stop(): Promise<void>;
};

/**
 * Runs each job at its own interval, so that a slow job does not delay the others. A failed run is retried at the next interval.
 * @param isPaused returns whether to skip all jobs for now, because disk space is low and every job writes to the database
 */
export function startJobs(jobs: readonly Job[], log: Log, isPaused: () => boolean = () => false): JobRunner {
  const stopping = new AbortController();
  let wakeUp = new AbortController();
  const runRepeatedly = async ({ name, everyMs, run, onWork, minIntervalMs: leastMs = 0 }: Job): Promise<void> => {
    let work = new AbortController();
    const unsubscribe = onWork?.(() => work.abort());
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      work = new AbortController();
      // The signal is created before the run, so that a wake-up during the run is not lost.
      const sleepSignal = AbortSignal.any([stopping.signal, wakeUp.signal, work.signal]);
      if (!isPaused())
        await run(stopping.signal).catch((error: unknown) => {
          if (!isLowDiskSpaceRejectionError(error)) log.error({ err: error, job: name }, 'a background job failed and will be retried');
        });
      await sleep(typeof everyMs === 'number' ? everyMs : everyMs(), undefined, { signal: sleepSignal }).catch(() => undefined);
      const tooEarlyMs = leastMs - (performance.now() - startedAt);
      if (tooEarlyMs > 0) await sleep(tooEarlyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    unsubscribe?.();
  };
  const running = jobs.map(runRepeatedly);
  return {
    wake() {
      wakeUp.abort();
      wakeUp = new AbortController();
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
