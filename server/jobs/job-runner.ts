import { setTimeout as sleep } from 'node:timers/promises';
import { isWriteRefusal } from '../database/storage/storage-reserve.ts';
import type { Log } from '../logging/logger.ts';

/** Work that comes back again and again. It finds out by itself whether there is anything to do. */
export type Job = {
  readonly name: string;
  /** Time between two runs; a function where it changes. */
  readonly everyMs: number | (() => number);
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** Subscribes to a signal that there is work; returns the function that ends the subscription. */
  readonly onWork?: (wake: () => void) => () => void;
  /** Least time from the beginning of one run to the next. Default: 0. */
  readonly leastMs?: number;
};

export type Background = {
  /** Has all jobs look at once, without waiting for their time. */
  wake(): void;
  /** Waits for what is being done. */
  stop(): Promise<void>;
};

/**
 * Each job has a rhythm of its own, so that a long one holds up no other. What fails is tried again.
 * @param isPaused whether jobs are skipped now: all of them write
 */
export function startBackground(jobs: readonly Job[], log: Log, isPaused: () => boolean = () => false): Background {
  const stopping = new AbortController();
  let bell = new AbortController();
  const repeat = async ({ name, everyMs, run, onWork, leastMs = 0 }: Job): Promise<void> => {
    let work = new AbortController();
    const unsubscribe = onWork?.(() => work.abort());
    while (!stopping.signal.aborted) {
      const begun = performance.now();
      work = new AbortController();
      // Taken before the work: a bell that rings during it counts.
      const rest = AbortSignal.any([stopping.signal, bell.signal, work.signal]);
      if (!isPaused())
        await run(stopping.signal).catch((error: unknown) => {
          if (!isWriteRefusal(error)) log.error({ err: error, job: name }, 'work in the background failed, and is tried again');
        });
      await sleep(typeof everyMs === 'number' ? everyMs : everyMs(), undefined, { signal: rest }).catch(() => undefined);
      const early = leastMs - (performance.now() - begun);
      if (early > 0) await sleep(early, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    unsubscribe?.();
  };
  const running = jobs.map(repeat);
  return {
    wake() {
      bell.abort();
      bell = new AbortController();
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
