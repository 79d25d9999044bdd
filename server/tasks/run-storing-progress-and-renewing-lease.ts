import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskAttempt } from './task-attempt.ts';

/**
 * Interval between two updates of the progress, each of which also renews the lease. A lease lasts several times as long as this interval.
 */
const intervalMs = 1_000;

export type ReportProgress = (processed: number, total: number) => void;

/**
 * Runs work that is not divided into steps. Once a second, stores the progress, which also renews the lease. If the task was canceled or
 * the process is stopping, this function waits for the work to end, and then throws.
 * @param work reports its progress regularly. After the task has been canceled, reporting progress throws an error that ends the work
 */
export async function runStoringProgressAndRenewingLease<Result>(
  run: TaskAttempt,
  work: (report: ReportProgress) => Promise<Result>,
): Promise<Result> {
  let progress: { processed: number; total?: number } = { processed: 0 };
  const ending = new AbortController();
  const result = work((processed, total) => {
    ending.signal.throwIfAborted();
    progress = { processed, total };
  });
  const ended = result.then(
    () => true,
    () => true,
  );
  try {
    while (!(await Promise.race([ended, sleep(intervalMs, false)]))) await run.step(async () => ({ checkpoint: {}, ...progress }));
  } catch (error) {
    ending.abort(error);
    await ended;
    throw error;
  }
  return result;
}
