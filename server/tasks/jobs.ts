import type { Job } from '../jobs/job-runner.ts';
import { runTasks, type TaskWork } from './run-tasks.ts';
import { sweepTasks } from './delete-old-tasks.ts';

/** Tasks that one process works on at a time: a short one need not wait for a long one. */
const atOnce = 2;

/** Exports and imports, and forgetting what is kept no longer. */
export const taskJobs = (work: TaskWork): Job[] => [
  ...Array.from({ length: atOnce }, () => ({ name: 'tasks', everyMs: 1_000, run: (signal: AbortSignal) => runTasks(work, signal) })),
  { name: 'old tasks', everyMs: 3_600_000, run: (signal) => sweepAll(work, signal) },
];

async function sweepAll({ em }: TaskWork, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await sweepTasks(em.fork())) > 0);
}
