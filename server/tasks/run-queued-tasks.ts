import { LockMode, sql } from '@mikro-orm/core';
import { type TaskType, taskTypes } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { secondsFromNowSql } from '../database/time/seconds-from-now-sql.ts';
import type { Log } from '../logging/logger.ts';
import { finishTask } from './finish-task.ts';
import { measureAndHashStoredFile } from './stored-task-file.ts';
import { Task } from './task-and-task-file.entity.ts';
import { toPermanentTaskErrorOrUndefined, PermanentTaskError } from './permanent-task-error.ts';
import {
  type TaskHandler,
  type ClaimedTask,
  type TaskOutcome,
  TaskInterruptedByShutdownError,
  taskLeaseSeconds,
  TaskLeaseLostError,
  TaskAttempt,
} from './task-attempt.ts';

/** A task fails if it has been started this many times without finishing, because the task may be causing the process to crash. */
const attemptsMax = 10;

// Stored timestamps can be rounded up to the next millisecond. With a tolerance of 1 ms, a released task can be started immediately.
// `attempts` is the fencing token. A process that has lost its lease has a lower number and can no longer change the task.
async function claimTask(
  em: EntityManager,
  types: readonly TaskType[],
  runningTaskIds: ReadonlySet<number>,
): Promise<ClaimedTask | undefined> {
  const leaseExpired = { leaseUntil: { $lt: sql`now() + interval '1 millisecond'` } };
  const [task] = await em.find(
    Task,
    {
      status: { $in: ['queued', 'running'] },
      type: { $in: [...types] },
      ...leaseExpired,
      ...(runningTaskIds.size > 0 && { id: { $nin: [...runningTaskIds] } }),
    },
    { orderBy: { leaseUntil: 'asc', id: 'asc' }, limit: 1, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true },
  );
  if (!task) return undefined;
  const { id, type, params, needs, user = null, clientId, input = null, checkpoint = null, attempts, createdAt } = task;
  await em.nativeUpdate(
    Task,
    { id },
    {
      status: 'running',
      attempts: attempts + 1,
      startedAt: task.startedAt ?? sql.now(),
      leaseUntil: secondsFromNowSql(taskLeaseSeconds),
    },
  );
  return {
    id,
    type,
    params,
    needs,
    user_id: user,
    client_id: clientId,
    input_id: input,
    checkpoint,
    attempts: attempts + 1,
    created_at: createdAt.toISOString(),
  };
}

/** Releases the lease, so that the task runs again after the delay. */
const releaseTask = (em: EntityManager, { id, attempts }: ClaimedTask, delaySeconds: number): Promise<number> =>
  em.nativeUpdate(Task, { id, attempts, status: 'running' }, { leaseUntil: secondsFromNowSql(delaySeconds) });

export type TaskRunnerDependencies = {
  readonly em: EntityManager;
  readonly log: Log;
  /** Handlers by task type. */
  readonly handlers: Readonly<Partial<Record<TaskType, TaskHandler>>>;
  /**
   * Tasks that this process is running. The process must not start these tasks again when their lease has expired. A lease can expire
   * because copying the embedded database for a backup blocks the renewal.
   */
  readonly runningTaskIds?: Set<number>;
  /** Returns whether this process is handling requests. While it is, tasks pause between their steps. */
  readonly isProcessingRequests?: (() => boolean) | undefined;
};

/** Runs all queued tasks and all tasks whose lease has expired, one after the other. Returns the number of these tasks. */
export async function runQueuedTasks(deps: TaskRunnerDependencies, signal: AbortSignal = new AbortController().signal): Promise<number> {
  let count = 0;
  const runningTaskIds = deps.runningTaskIds ?? new Set<number>();
  for (; !signal.aborted; count += 1) {
    const task = await deps.em.fork().transactional((inner) =>
      claimTask(
        inner,
        taskTypes.filter((type) => type in deps.handlers),
        runningTaskIds,
      ),
    );
    if (!task) break;
    runningTaskIds.add(task.id);
    await runTask(deps, task, signal).finally(() => runningTaskIds.delete(task.id));
  }
  return count;
}

async function runTask(deps: TaskRunnerDependencies, task: ClaimedTask, signal: AbortSignal): Promise<void> {
  const em = deps.em.fork();
  try {
    if (task.attempts > attemptsMax)
      throw new PermanentTaskError('gave_up', `The task was started ${attemptsMax} times and never finished.`);
    const handle = deps.handlers[task.type];
    if (!handle) throw new Error(`no handler for tasks of type ${task.type}`);
    const run = new TaskAttempt(em, task, signal, deps.isProcessingRequests ?? (() => false));
    const outcome = await handle(run);
    const file = outcome && (await describeResultFile(run, outcome));
    await em.transactional((inner) => finishTask(inner, task.id, task.attempts, { status: 'succeeded', ...file }));
  } catch (error) {
    await handleTaskError(deps, em, task, error);
  }
}

async function describeResultFile(run: TaskAttempt, { fileId, ...outcome }: TaskOutcome) {
  const sizeAndHash = await measureAndHashStoredFile(run.em, fileId, () => run.renewLease());
  return { fileId, result: { ...outcome, ...sizeAndHash } };
}

async function handleTaskError({ log }: TaskRunnerDependencies, em: EntityManager, task: ClaimedTask, error: unknown): Promise<void> {
  if (error instanceof TaskLeaseLostError) return;
  if (error instanceof TaskInterruptedByShutdownError) return void (await releaseTask(em, task, 0));
  const failure = toPermanentTaskErrorOrUndefined(error, task.attempts);
  if (failure) {
    const { code, message: detail, cause } = failure;
    if (cause !== undefined) log.error({ err: cause, task_id: task.id, code }, 'a task failed permanently');
    await em.transactional((inner) => finishTask(inner, task.id, task.attempts, { status: 'failed', error: { code, detail } }));
    return;
  }
  // The error may be temporary and is not the caller's fault, so the task is retried with exponential backoff.
  log.error({ err: error, task_id: task.id, attempts: task.attempts }, 'a task failed and will be retried');
  await releaseTask(em, task, Math.min(2 ** task.attempts, 300));
}
