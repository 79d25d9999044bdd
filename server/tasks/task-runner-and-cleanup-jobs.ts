import type { Job } from '../jobs/job-runner.ts';
import { repeatBatchUntilZero } from '../jobs/repeat-batch-until-zero.ts';
import { runQueuedTasks, type TaskRunnerDependencies } from './run-queued-tasks.ts';
import { clearExpiredTaskDataBatch } from './clear-expired-task-data.ts';

/** Number of tasks that a process runs concurrently, so that short tasks do not have to wait for long tasks. */
const concurrency = 2;

/** Returns the background jobs that run tasks and delete expired task data. */
export function createTaskRunnerAndCleanupJobs(given: TaskRunnerDependencies): Job[] {
  const deps = { ...given, runningTaskIds: new Set<number>() };
  return [
    ...Array.from({ length: concurrency }, () => ({
      name: 'tasks',
      everyMs: 1_000,
      run: (signal: AbortSignal) => runQueuedTasks(deps, signal),
    })),
    {
      name: 'old tasks',
      everyMs: 3_600_000,
      run: (signal) => repeatBatchUntilZero(signal, () => clearExpiredTaskDataBatch(deps.em.fork())),
    },
  ];
}
