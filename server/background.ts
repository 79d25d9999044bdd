import { setTimeout as sleep } from 'node:timers/promises';
import { isWriteRefusal } from './database/storage-reserve.ts';
import type { Log } from './log.ts';

/** Work that comes back again and again. It finds out by itself whether there is anything to do. */
export type Job = { readonly name: string; readonly everyMs: number; readonly run: (signal: AbortSignal) => Promise<unknown> };

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
  const repeat = async ({ name, everyMs, run }: Job): Promise<void> => {
    while (!stopping.signal.aborted) {
      // Taken before the work: a bell that rings during it counts.
      const rest = AbortSignal.any([stopping.signal, bell.signal]);
      if (!isPaused())
        await run(stopping.signal).catch((error: unknown) => {
          if (!isWriteRefusal(error)) log.error({ err: error, job: name }, 'work in the background failed, and is tried again');
        });
      await sleep(everyMs, undefined, { signal: rest }).catch(() => undefined);
    }
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
