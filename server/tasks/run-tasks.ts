import type { TaskType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { Log } from '../logging/logger.ts';
import { finishTask } from './finish-task.ts';
import { measureAndHashStoredFile } from './stored-file.ts';
import { toPermanentTaskError, PermanentTaskError } from './permanent-task-error.ts';
import { type TaskHandler, type ClaimedTask, TaskInterruptedError, taskLeaseSeconds, LeaseLostError, TaskRun } from './task-context.ts';

/** A task that was started this often without finishing fails: it may be the cause of process crashes. */
const attemptsMax = 10;

// Stored timestamps may be rounded up to the next millisecond; with the tolerance, a released task is ready immediately. `attempts` is the
// fencing token: a process that lost its lease has a lower number and can no longer change the task.
const claim = prepareStatement<ClaimedTask>(
  'claim_task',
  `update tasks set status = 'running', attempts = attempts + 1, started_at = coalesce(started_at, now()),
          lease_until = now() + interval '${taskLeaseSeconds} seconds'
    where id = (select id from tasks where status in ('queued', 'running') and lease_until < now() + interval '1 millisecond' and type = any($1::text[])
                 order by lease_until, id limit 1 for update skip locked)
   returning id, type, params, user_id, client_id, input_id, checkpoint, attempts, created_at`,
);
const release = prepareStatement(
  'release_task',
  `update tasks set lease_until = now() + make_interval(secs => $3) where id = $1 and attempts = $2 and status = 'running'`,
);

export type TaskRunnerDependencies = {
  readonly em: EntityManager;
  readonly log: Log;
  /** Handlers by task type. */
  readonly handlers: Readonly<Partial<Record<TaskType, TaskHandler>>>;
};

/** Runs all queued tasks, and tasks whose lease has expired, one after the other. Returns the number of tasks that were run. */
export async function runTasks(deps: TaskRunnerDependencies, signal: AbortSignal = new AbortController().signal): Promise<number> {
  let count = 0;
  for (; !signal.aborted; count += 1) {
    const [task] = await claim(deps.em.fork(), [Object.keys(deps.handlers)]);
    if (!task) break;
    await runTask(deps, task, signal);
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
    const run = new TaskRun(em, task, signal);
    const { fileId, ...outcome } = await handle(run);
    const result = { ...outcome, ...(await measureAndHashStoredFile(em, fileId, () => run.renewLease())) };
    await em.transactional((inner) => finishTask(inner, task.id, task.attempts, { status: 'succeeded', result, fileId }));
  } catch (error) {
    await handleTaskError(deps, em, task, error);
  }
}

async function handleTaskError({ log }: TaskRunnerDependencies, em: EntityManager, task: ClaimedTask, error: unknown): Promise<void> {
  if (error instanceof LeaseLostError) return;
  if (error instanceof TaskInterruptedError) return void (await release(em, [task.id, task.attempts, 0]));
  const failure = toPermanentTaskError(error, task.attempts);
  if (failure) {
    const { code, message: detail, cause } = failure;
    if (cause !== undefined) log.error({ err: cause, task_id: task.id, code }, 'a task failed permanently');
    await em.transactional((inner) => finishTask(inner, task.id, task.attempts, { status: 'failed', error: { code, detail } }));
    return;
  }
  // The error may be temporary and is not the caller's fault: retry with exponential backoff.
  log.error({ err: error, task_id: task.id, attempts: task.attempts }, 'a task failed and will be retried');
  await release(em, [task.id, task.attempts, Math.min(2 ** task.attempts, 300)]);
}
