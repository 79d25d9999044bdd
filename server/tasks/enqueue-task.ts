import { type Scope, type Task, type TaskType, maxConcurrentTasks } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { Principal } from '../http/request/principal.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { taskOwnerKey, taskColumnsSql, type TaskRow, taskFromRow } from './task-rows.ts';

// Serializes concurrent requests of one owner, so that each counts the tasks of the others.
const lockOwner = prepareStatement('lock_task_owner', 'select pg_advisory_xact_lock(hashtextextended($1, 20261120))');
const countUnfinished = prepareStatement<{ count: number }>(
  'count_unfinished_tasks',
  `select count(*) as count from tasks where owner = $1 and status in ('queued', 'running')`,
);
const insertTask = prepareStatement<TaskRow>(
  'insert_task',
  `insert into tasks (type, owner, user_id, client_id, needs, params, input_id) values ($1, $2, $3, $4, $5::text[], $6::jsonb, $7)
   returning ${taskColumnsSql}`,
);

export type NewTask = {
  readonly type: TaskType;
  readonly params: { readonly [name: string]: Task['params'][string] | undefined };
  /** Scopes that a token requires to see the task: the ones that starting it requires. */
  readonly needs: readonly Scope[];
  /** The input file. */
  readonly inputId?: number;
};

/** Adds a task to the queue, in the transaction of the request. */
export async function enqueueTask(em: EntityManager, principal: Principal, { type, params, needs, inputId }: NewTask): Promise<Task> {
  const owner = taskOwnerKey(principal);
  await lockOwner(em, [owner]);
  const [unfinished] = await countUnfinished(em, [owner]);
  if ((unfinished?.count ?? 0) >= maxConcurrentTasks) {
    throw createProblem('too_many_tasks', {
      detail: `${maxConcurrentTasks} of your tasks are not finished. Wait for one of them, or cancel it.`,
      headers: { 'Retry-After': '10' },
    });
  }
  const values = [type, owner, principal.user?.id ?? null, principal.clientId, needs, JSON.stringify(params), inputId ?? null];
  const [row] = await insertTask(em, values);
  if (!row) throw new Error('inserting a task returned no row');
  return taskFromRow(row);
}
