import { setImmediate } from 'node:timers/promises';
import { type ImportCounts, scopeNames, scopes, type Task, type TaskType } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { TaskFailure } from './task-failure.ts';

/** How long a task stays assigned to its process without a renewal. After a crash, another process resumes the task this much later. */
export const leaseSeconds = 10;
/** A lease is renewed at most this often between two steps. */
const renewalMs = 2_000;

/** What somebody works on. */
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

/** The file that a task was started with. */
export function storedInput({ input_id: fileId }: ClaimedTask): number {
  if (fileId === null) throw new Error('a task without its file');
  return fileId;
}

export type Progress = {
  readonly checkpoint: object;
  readonly processed: number;
  readonly total?: number | undefined;
  /** Counts of an import so far. */
  readonly imported?: ImportCounts;
};

/** What a finished task leaves behind. */
export type Outcome = Pick<NonNullable<Task['result']>, 'format' | 'rows' | 'imported'> & { readonly fileId: number };

/** The task is somebody else's by now, or was canceled: whatever is left to do is no business of ours. */
export class LeaseLost extends Error {}

/** We were asked to stop; somebody else goes on from the last checkpoint. */
export class Interrupted extends Error {}

// Cancelling waits for the step that is being taken, and comes before the next.
// Whoever started it may have been suspended since, or have lost the role that it takes.
const take = statement<{ allowed: boolean }>(
  'take_task_step',
  `select coalesce(u.status = 'active' and (u.role <> 'customer' or not t.needs && $3::text[]), true) as allowed
     from tasks t left join users u on u.id = t.user_id
    where t.id = $1 and t.attempts = $2 and t.status = 'running'
      for no key update of t`,
);
const scopesOfStaff = scopeNames.filter((name) => scopes[name].admin);
// A step may take longer than a lease, so the new lease counts from its end.
const lease = `lease_until = clock_timestamp() + interval '${leaseSeconds} seconds'`;
const hold = statement(
  'hold_task',
  `update tasks set checkpoint = $3::jsonb, processed = $4, total = coalesce($5, total), imported = coalesce($6::jsonb, imported), ${lease}
    where id = $1 and attempts = $2`,
);
const renew = statement<{ id: number }>(
  'renew_task_lease',
  `update tasks set ${lease} where id = $1 and attempts = $2 and status = 'running' returning id`,
);

/** One go at a task, until it is finished or the process ends. */
export class TaskRun {
  readonly task: ClaimedTask;
  readonly em: Em;
  readonly #signal: AbortSignal;
  #renewedAt = performance.now();

  constructor(em: Em, task: ClaimedTask, signal: AbortSignal) {
    this.em = em;
    this.task = task;
    this.#signal = signal;
  }

  /** Does one piece of the work. Its effect and how far the task got are written together, or neither: a crash repeats nothing. */
  async step<P extends Progress>(effect: (em: Em) => Promise<P>): Promise<P> {
    await this.#yield();
    const taken = await this.em.fork().transactional(async (inner) => {
      const { id, attempts } = this.task;
      const [row] = await take(inner, [id, attempts, scopesOfStaff]);
      if (!row) throw new LeaseLost();
      if (!row.allowed) throw new TaskFailure('forbidden', 'Whoever started the task is no longer allowed to.');
      const progress = await effect(inner);
      const { checkpoint, processed, total = null, imported } = progress;
      await hold(inner, [id, attempts, JSON.stringify(checkpoint), processed, total, imported ? JSON.stringify(imported) : null]);
      return progress;
    });
    this.#renewedAt = performance.now();
    return taken;
  }

  /**
   * Keeps the task during long work that is not a step, such as reading a large file; call it after each small part of the work. Throws
   * when the process is stopping, or when the task was canceled or taken over.
   */
  async keep(): Promise<void> {
    await this.#yield();
    if (performance.now() - this.#renewedAt < renewalMs) return;
    this.#renewedAt = performance.now();
    const [renewed] = await renew(this.em.fork(), [this.task.id, this.task.attempts]);
    if (!renewed) throw new LeaseLost();
  }

  /** Lets pending requests run first: an embedded database responds without leaving the process. */
  async #yield(): Promise<void> {
    await setImmediate();
    if (this.#signal.aborted) throw new Interrupted();
  }
}

/** How tasks of one type are carried out: from their checkpoint, in steps. */
export type CarryOut = (run: TaskRun) => Promise<Outcome>;
