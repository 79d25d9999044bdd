import type { Task } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { allowedScopes } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { keptDays, ownerOf, type StoredResult, taskColumns, type TaskRow, toTask } from './task-rows.ts';

type FoundTask = TaskRow & { output_id: number | null; kept: boolean; result_kept: boolean };

// The permission is part of the query: tasks of other owners, and tasks that this token could not have started, are not found.
const readTask = statement<FoundTask>(
  'read_task',
  `select ${taskColumns}, output_id,
          coalesce(finished_at > now() - interval '${keptDays.task} days', true) as kept,
          coalesce(finished_at > now() - interval '${keptDays.result} days', true) as result_kept
     from tasks where id = $1 and owner = $2 and needs <@ $3::text[]`,
);

async function readVisibleTask(em: Em, principal: Principal, id: number): Promise<FoundTask> {
  const [row] = await readTask(em, [id, ownerOf(principal), allowedScopes(principal)]);
  if (!row) throw problem('not_found', { detail: `Task ${id} was not found.` });
  if (!row.kept) throw problem('gone', { detail: `Tasks are kept for ${keptDays.task} days after they finish.` });
  return row;
}

/** Returns a task of the principal. */
export const findTask = async (em: Em, principal: Principal, id: number): Promise<Task> => {
  const { output_id: _, kept: __, result_kept: ___, ...row } = await readVisibleTask(em, principal, id);
  return toTask(row);
};

export type Result = { readonly fileId: number; readonly task: Task; readonly result: StoredResult };

/** Returns the result file of a task that has succeeded, while it is retained. */
export async function findResult(em: Em, principal: Principal, id: number): Promise<Result> {
  const { output_id: fileId, result_kept: isRetained, ...row } = await readVisibleTask(em, principal, id);
  if (row.status === 'queued' || row.status === 'running') {
    throw problem('task_not_finished', { detail: 'The result is available once the task has succeeded.', headers: { 'Retry-After': '2' } });
  }
  if (row.status !== 'succeeded') throw problem('not_found', { detail: `The task has no result, because it is ${row.status}.` });
  if (!isRetained || fileId === null || row.result === null) {
    throw problem('gone', { detail: `Results are kept for ${keptDays.result} days. Start the task again to create a new result.` });
  }
  return { fileId, task: toTask(row), result: row.result };
}
