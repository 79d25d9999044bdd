import { type Scope, type Task, type TaskType, tasksAtOnceMax } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { ownerOf, taskColumns, type TaskRow, toTask } from './task-rows.ts';

// Serializes concurrent requests of one owner, so that each counts the tasks of the others.
const lockOwner = statement('take_turns_starting_tasks', 'select pg_advisory_xact_lock(hashtextextended($1, 20261120))');
const countUnfinished = statement<{ count: number }>(
  'count_unfinished_tasks',
  `select count(*) as count from tasks where owner = $1 and status in ('queued', 'running')`,
);
const insertTask = statement<TaskRow>(
  'insert_task',
  `insert into tasks (type, owner, user_id, client_id, needs, params, input_id) values ($1, $2, $3, $4, $5::text[], $6::jsonb, $7)
   returning ${taskColumns}`,
);

export type TaskStart = {
  readonly type: TaskType;
  readonly params: { readonly [name: string]: Task['params'][string] | undefined };
  /** Scopes that a token requires to see the task: the ones that starting it requires. */
  readonly needs: readonly Scope[];
  /** The input file. */
  readonly inputId?: number;
};

/** Adds a task to the queue, in the transaction of the request. */
export async function startTask(em: Em, principal: Principal, { type, params, needs, inputId }: TaskStart): Promise<Task> {
  const owner = ownerOf(principal);
  await lockOwner(em, [owner]);
  const [unfinished] = await countUnfinished(em, [owner]);
  if ((unfinished?.count ?? 0) >= tasksAtOnceMax) {
    throw problem('too_many_tasks', {
      detail: `${tasksAtOnceMax} of your tasks are not finished. Wait for one of them, or cancel it.`,
      headers: { 'Retry-After': '10' },
    });
  }
  const values = [type, owner, principal.user?.id ?? null, principal.clientId, needs, JSON.stringify(params), inputId ?? null];
  const [row] = await insertTask(em, values);
  if (!row) throw new Error('inserting a task returned no row');
  return toTask(row);
}
