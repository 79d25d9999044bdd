import { setImmediate, setTimeout } from 'node:timers/promises';
import { sql } from '@mikro-orm/core';
import { getRolesAllowedForScope, type ImportCounts, type Scope, type Task as TaskBody, type TaskType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { lockRows } from '../database/queries/lock-rows.sql.ts';
import { User } from '../users/user.entity.ts';
import { PermanentTaskError } from './permanent-task-error.ts';
import { Task } from './task-and-task-file.entity.ts';

/** Duration of a lease. After a crash, another process resumes the task when the lease has expired. */
export const taskLeaseSeconds = 10;
/** Minimum time between two renewals of a lease. */
const renewalMs = 2_000;

/**
 * Maximum duration of a pause, as a multiple of the working time since the previous pause. Tasks pause while the process is handling
 * requests.
 */
const pausePerWork = 3;
/** Maximum duration of a pause, much shorter than a lease. */
const pauseMaxMs = 1_000;
const pauseCheckMs = 5;

/** A task that this process has leased. */
export type ClaimedTask = {
  readonly id: number;
  readonly type: TaskType;
  readonly params: unknown;
  /** Scopes that a token must have to start the task. */
  readonly needs: readonly Scope[];
  readonly user_id: number | null;
  readonly client_id: string;
  readonly input_id: number | null;
  readonly checkpoint: unknown;
  readonly attempts: number;
  readonly created_at: string;
};

/** Returns the ID of the task's input file; throws an error if the task has none. */
export function requireTaskInputFileId({ input_id: fileId }: ClaimedTask): number {
  if (fileId === null) throw new Error('the task has no input file');
  return fileId;
}

/** Progress that is stored after a step. */
export type TaskProgress = {
  readonly checkpoint: object;
  readonly processed: number;
  readonly total?: number | undefined;
  /** Import counts so far. */
  readonly imported?: ImportCounts;
};

/** Result file of a task that succeeded. */
export type TaskOutcome = Pick<NonNullable<TaskBody['result']>, 'format' | 'rows' | 'imported'> & { readonly fileId: number };

/** The task was canceled or is leased by another process, so this process must stop working on the task. */
export class TaskLeaseLostError extends Error {}

/** The process is stopping; another process resumes the task from the last checkpoint. */
export class TaskInterruptedByShutdownError extends Error {}

/** Returns whether the user who started the task, if any, is still active and has the required role. */
async function isStillAllowed(em: EntityManager, { user_id: userId, needs }: ClaimedTask): Promise<boolean> {
  if (userId === null) return true;
  const user = await em.findOne(User, { id: userId }, { disableIdentityMap: true });
  return user?.status === 'active' && needs.every((scope) => getRolesAllowedForScope(scope).includes(user.role));
}

// A step may take longer than a lease, so the new lease starts at the end of the step.
const renewedLease = () => sql`clock_timestamp() + make_interval(secs => ${taskLeaseSeconds})`;

/** One attempt to run a task. The attempt lasts until the task is finished or the process stops. */
export class TaskAttempt {
  readonly task: ClaimedTask;
  readonly em: EntityManager;
  readonly #signal: AbortSignal;
  readonly #isProcessingRequests: () => boolean;
  #renewedAt = performance.now();
  #workedSince = performance.now();

  constructor(em: EntityManager, task: ClaimedTask, signal: AbortSignal, isProcessingRequests: () => boolean) {
    this.em = em;
    this.task = task;
    this.#signal = signal;
    this.#isProcessingRequests = isProcessingRequests;
  }

  /** Performs one step. The step's effect and the progress are committed in one transaction, so no step is repeated after a crash. */
  async step<P extends TaskProgress>(effect: (em: EntityManager) => Promise<P>): Promise<P> {
    await this.#yield();
    const stored = await this.em.fork().transactional(async (inner) => {
      const { id, attempts } = this.task;
      // The row lock makes cancellations wait for the current step.
      const running = inner.createQueryBuilder(Task).select('id').where({ id, attempts, status: 'running' });
      if ((await lockRows(inner, running)).length === 0) throw new TaskLeaseLostError();
      if (!(await isStillAllowed(inner, this.task)))
        throw new PermanentTaskError('forbidden', 'The user who started the task no longer has the required permissions.');
      const progress = await effect(inner);
      const { checkpoint, processed, total, imported } = progress;
      const counts = { processed, ...(total !== undefined && { total }), ...(imported && { imported }) };
      await inner.nativeUpdate(Task, { id, attempts }, { checkpoint, ...counts, leaseUntil: renewedLease() });
      return progress;
    });
    this.#renewedAt = performance.now();
    return stored;
  }

  /**
   * Renews the lease during a long operation that is not a step, such as reading a large file. Call this method after each small part of
   * the operation. Throws if the process is stopping, or if the task was canceled or taken over by another process.
   */
  async renewLease(): Promise<void> {
    await this.#yield();
    if (performance.now() - this.#renewedAt < renewalMs) return;
    this.#renewedAt = performance.now();
    const { id, attempts } = this.task;
    const renewed = await this.em.fork().nativeUpdate(Task, { id, attempts, status: 'running' }, { leaseUntil: renewedLease() });
    if (renewed === 0) throw new TaskLeaseLostError();
  }

  /**
   * Lets waiting requests proceed before the task continues. `setImmediate` is needed because the embedded database runs in this process,
   * and awaiting its response therefore does not yield to the event loop.
   */
  async #yield(): Promise<void> {
    await setImmediate();
    const now = performance.now();
    const pauseUntil = now + Math.min(pauseMaxMs, (now - this.#workedSince) * pausePerWork);
    while (this.#isProcessingRequests() && performance.now() < pauseUntil && !this.#signal.aborted) await setTimeout(pauseCheckMs);
    this.#workedSince = performance.now();
    if (this.#signal.aborted) throw new TaskInterruptedByShutdownError();
  }
}

/** Runs tasks of one type step by step, starting from the task's checkpoint. Returns `undefined` if the task has no result file. */
export type TaskHandler = (run: TaskAttempt) => Promise<TaskOutcome | undefined>;
