import { describe, expect, test } from 'vitest';
import { startJobs, type Job } from '../../../server/jobs/job-runner.ts';
import { createLogger } from '../../../server/logging/logger.ts';

const hour = 3_600_000;
const quiet = createLogger(true);
quiet.level = 'silent';

/** Creates a job that counts its runs, and a function that waits for a given run. */
function createCountingJob(work: (run: number, signal: AbortSignal) => Promise<unknown> = () => Promise.resolve(), everyMs = hour) {
  const waiting: { runs: number; resolve: () => void }[] = [];
  let runs = 0;
  const job: Job = {
    name: 'counted',
    everyMs,
    async run(signal) {
      runs += 1;
      const now = runs;
      for (const { resolve } of waiting.filter((one) => one.runs <= now)) resolve();
      await work(now, signal);
    },
  };
  const reached = (count: number): Promise<void> =>
    runs >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ runs: count, resolve }));
  return { job, reached, runs: () => runs };
}

describe('background jobs', () => {
  test('a job starts immediately, repeats at its interval, and stops', async () => {
    const { job, reached, runs } = createCountingJob(undefined, 5);
    const background = startJobs([job], quiet);
    await reached(3);
    await background.stop();
    const stopped = runs();
    const other = createCountingJob(undefined, 5);
    const otherBackground = startJobs([other.job], quiet);
    await other.reached(6);
    await otherBackground.stop();
    expect(runs()).toBe(stopped);
  });

  test('a job runs again immediately when it is woken, even during a run', async () => {
    const { job, reached, runs } = createCountingJob(async (run) => {
      await new Promise((passed) => setImmediate(passed));
      if (run === 1) background.wake();
    });
    const background = startJobs([job], quiet);
    await reached(2);
    background.wake();
    await reached(3);
    await background.stop();
    expect(runs()).toBe(3);
  });

  test('a failing job is retried and does not delay other jobs', async () => {
    const failing = createCountingJob(() => Promise.reject(new Error('planted')), 5);
    const other = createCountingJob(undefined, 5);
    const background = startJobs([failing.job, other.job], quiet);
    await Promise.all([failing.reached(3), other.reached(3)]);
    await background.stop();
    expect(failing.runs()).toBeGreaterThanOrEqual(3);
  });

  test('stopping aborts the signal of a running job and waits for the job', async () => {
    let finished = false;
    const { job, reached } = createCountingJob(async (_run, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      finished = true;
    });
    const background = startJobs([job], quiet);
    await reached(1);
    await background.stop();
    expect(finished).toBe(true);
  });
});
