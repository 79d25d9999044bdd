import type { TaskType } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import type { Log } from '../logging/logger.ts';
import { finishTask } from './finish-task.ts';
import { measure } from './stored-file.ts';
import { permanentFailure, TaskFailure } from './task-failure.ts';
import { type CarryOut, type ClaimedTask, Interrupted, leaseSeconds, LeaseLost, TaskRun } from './task-context.ts';

/** A task that has been begun this often without an end is given up: it may be what brings the process down. */
const attemptsMax = 10;

// Stored moments are rounded to milliseconds, upwards too; a task that is put back is ready at once all the same.
// attempts is the fence: whoever lost the lease holds a lower number, and changes nothing any more
const claim = statement<ClaimedTask>(
  'claim_task',
  `update tasks set status = 'running', attempts = attempts + 1, started_at = coalesce(started_at, now()),
          lease_until = now() + interval '${leaseSeconds} seconds'
    where id = (select id from tasks where status in ('queued', 'running') and lease_until < now() + interval '1 millisecond' and type = any($1::text[])
                 order by lease_until, id limit 1 for update skip locked)
   returning id, type, params, user_id, client_id, input_id, checkpoint, attempts, created_at`,
);
const release = statement(
  'release_task',
  `update tasks set lease_until = now() + make_interval(secs => $3) where id = $1 and attempts = $2 and status = 'running'`,
);

export type TaskWork = {
  readonly em: Em;
  readonly log: Log;
  /** How tasks of each type are carried out. */
  readonly kinds: Readonly<Partial<Record<TaskType, CarryOut>>>;
};

/** Carries out every task that waits, and every one whose holder has died, one after the other. Gives their number. */
export async function runTasks(work: TaskWork, signal: AbortSignal = new AbortController().signal): Promise<number> {
  let done = 0;
  for (; !signal.aborted; done += 1) {
    const [task] = await claim(work.em.fork(), [Object.keys(work.kinds)]);
    if (!task) break;
    await runTask(work, task, signal);
  }
  return done;
}

async function runTask(work: TaskWork, task: ClaimedTask, signal: AbortSignal): Promise<void> {
  const em = work.em.fork();
  try {
    if (task.attempts > attemptsMax) throw new TaskFailure('gave_up', `The task was begun ${attemptsMax} times and never came to an end.`);
    const carryOut = work.kinds[task.type];
    if (!carryOut) throw new Error(`nobody carries out ${task.type}`);
    const run = new TaskRun(em, task, signal);
    const { fileId, ...outcome } = await carryOut(run);
    const result = { ...outcome, ...(await measure(em, fileId, () => run.keep())) };
    await em.transactional((inner) => finishTask(inner, task.id, task.attempts, { status: 'succeeded', result, fileId }));
  } catch (error) {
    await endEarly(work, em, task, error);
  }
}

async function endEarly({ log }: TaskWork, em: Em, task: ClaimedTask, error: unknown): Promise<void> {
  if (error instanceof LeaseLost) return;
  if (error instanceof Interrupted) return void (await release(em, [task.id, task.attempts, 0]));
  const failure = permanentFailure(error, task.attempts);
  if (failure) {
    const { code, message: detail, cause } = failure;
    if (cause !== undefined) log.error({ err: cause, task_id: task.id, code }, 'a task failed permanently');
    await em.transactional((inner) => finishTask(inner, task.id, task.attempts, { status: 'failed', error: { code, detail } }));
    return;
  }
  // Not the caller's fault, and perhaps over soon: later again, a little later every time.
  log.error({ err: error, task_id: task.id, attempts: task.attempts }, 'a task failed; it goes on later');
  await release(em, [task.id, task.attempts, Math.min(2 ** task.attempts, 300)]);
}
