import { setImmediate } from 'node:timers/promises';
import { type ImportCounts, scopeNames, scopeDefinitions, type Task, type TaskType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { PermanentTaskError } from './permanent-task-error.ts';

/** Duration of a lease. After a crash, another process resumes the task when the lease has expired. */
export const taskLeaseSeconds = 10;
/** Minimum time between two renewals of a lease. */
const renewalMs = 2_000;

/** A task that this process has leased. */
export type ClaimedTask = {
  readonly id: number;
  readonly type: TaskType;
  readonly params: unknown;
  readonly user_id: number | null;
  readonly client_id: string;
  readonly input_id: number | null;
  readonly checkpoint: unknown;
  readonly attempts: number;
  readonly created_at: string;
};

/** Returns the id of the task's input file; throws an error if it has none. */
export function requireInputFileId({ input_id: fileId }: ClaimedTask): number {
  if (fileId === null) throw new Error('the task has no input file');
  return fileId;
}

/** Progress that is stored after a step. */
export type TaskProgress = {
  readonly checkpoint: object;
  readonly processed: number;
  readonly total?: number | undefined;
  /** Counts of the import so far. */
  readonly imported?: ImportCounts;
};

/** Result of a task that succeeded. */
export type TaskOutcome = Pick<NonNullable<Task['result']>, 'format' | 'rows' | 'imported'> & { readonly fileId: number };

/** The task was canceled or is leased by another process: this process must stop working on it. */
export class LeaseLostError extends Error {}

/** The process is stopping; another process resumes the task from the last checkpoint. */
export class TaskInterruptedError extends Error {}

// The row lock makes a cancellation wait for the current step. The user who started the task may have been suspended or lost the
// required role since.
const lockForStep = prepareStatement<{ allowed: boolean }>(
  'lock_task_step',
  `select coalesce(u.status = 'active' and (u.role <> 'customer' or not t.needs && $3::text[]), true) as allowed
     from tasks t left join users u on u.id = t.user_id
    where t.id = $1 and t.attempts = $2 and t.status = 'running'
      for no key update of t`,
);
const staffScopes = scopeNames.filter((name) => scopeDefinitions[name].admin);
// A step may take longer than a lease, so the new lease starts at the end of the step.
const renewedLeaseSql = `lease_until = clock_timestamp() + interval '${taskLeaseSeconds} seconds'`;
const storeProgress = prepareStatement(
  'store_task_progress',
  `update tasks set checkpoint = $3::jsonb, processed = $4, total = coalesce($5, total), imported = coalesce($6::jsonb, imported), ${renewedLeaseSql}
    where id = $1 and attempts = $2`,
);
const renewLeaseStatement = prepareStatement<{ id: number }>(
  'renew_task_lease',
  `update tasks set ${renewedLeaseSql} where id = $1 and attempts = $2 and status = 'running' returning id`,
);

/** One attempt at a task, until the task is finished or the process stops. */
export class TaskRun {
  readonly task: ClaimedTask;
  readonly em: EntityManager;
  readonly #signal: AbortSignal;
  #renewedAt = performance.now();

  constructor(em: EntityManager, task: ClaimedTask, signal: AbortSignal) {
    this.em = em;
    this.task = task;
    this.#signal = signal;
  }

  /** Performs one step. Its effect and the progress are committed in one transaction, so a crash repeats no step. */
  async step<P extends TaskProgress>(effect: (em: EntityManager) => Promise<P>): Promise<P> {
    await this.#yield();
    const stored = await this.em.fork().transactional(async (inner) => {
      const { id, attempts } = this.task;
      const [row] = await lockForStep(inner, [id, attempts, staffScopes]);
      if (!row) throw new LeaseLostError();
      if (!row.allowed) throw new PermanentTaskError('forbidden', 'The user who started the task no longer has the required permissions.');
      const progress = await effect(inner);
      const { checkpoint, processed, total = null, imported } = progress;
      await storeProgress(inner, [id, attempts, JSON.stringify(checkpoint), processed, total, imported ? JSON.stringify(imported) : null]);
      return progress;
    });
    this.#renewedAt = performance.now();
    return stored;
  }

  /**
   * Renews the lease during long work that is not a step, such as reading a large file. Call it after each small part of the work. Throws
   * if the process is stopping, or if the task was canceled or taken over by another process.
   */
  async renewLease(): Promise<void> {
    await this.#yield();
    if (performance.now() - this.#renewedAt < renewalMs) return;
    this.#renewedAt = performance.now();
    const [renewed] = await renewLeaseStatement(this.em.fork(), [this.task.id, this.task.attempts]);
    if (!renewed) throw new LeaseLostError();
  }

  /** Yields to pending requests: the embedded database responds without leaving the process, so awaiting it does not yield. */
  async #yield(): Promise<void> {
    await setImmediate();
    if (this.#signal.aborted) throw new TaskInterruptedError();
  }
}

/** Runs tasks of one type from their checkpoint, in steps. */
export type TaskHandler = (run: TaskRun) => Promise<TaskOutcome>;
