import type { Task } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { allowedScopes } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { taskRetentionDays, taskOwnerKey, type StoredTaskResult, taskColumnsSql, type TaskRow, taskFromRow } from './task-rows.ts';

type FoundTask = TaskRow & { output_id: number | null; kept: boolean; result_kept: boolean };

// The permission is part of the query: tasks of other owners, and tasks that this token could not have started, are not found.
const readTask = prepareStatement<FoundTask>(
  'read_task',
  `select ${taskColumnsSql}, output_id,
          coalesce(finished_at > now() - interval '${taskRetentionDays.task} days', true) as kept,
          coalesce(finished_at > now() - interval '${taskRetentionDays.result} days', true) as result_kept
     from tasks where id = $1 and owner = $2 and needs <@ $3::text[]`,
);

async function readVisibleTask(em: EntityManager, principal: Principal, id: number): Promise<FoundTask> {
  const [row] = await readTask(em, [id, taskOwnerKey(principal), allowedScopes(principal)]);
  if (!row) throw createProblem('not_found', { detail: `Task ${id} was not found.` });
  if (!row.kept) throw createProblem('gone', { detail: `Tasks are kept for ${taskRetentionDays.task} days after they finish.` });
  return row;
}

/** Returns a task of the principal. */
export const findTask = async (em: EntityManager, principal: Principal, id: number): Promise<Task> => {
  const { output_id: _, kept: __, result_kept: ___, ...row } = await readVisibleTask(em, principal, id);
  return taskFromRow(row);
};

export type TaskResultFile = { readonly fileId: number; readonly task: Task; readonly result: StoredTaskResult };

/** Returns the result file of a task that has succeeded, while it is retained. */
export async function findTaskResult(em: EntityManager, principal: Principal, id: number): Promise<TaskResultFile> {
  const { output_id: fileId, result_kept: isRetained, ...row } = await readVisibleTask(em, principal, id);
  if (row.status === 'queued' || row.status === 'running') {
    throw createProblem('task_not_finished', {
      detail: 'The result is available once the task has succeeded.',
      headers: { 'Retry-After': '2' },
    });
  }
  if (row.status !== 'succeeded') throw createProblem('not_found', { detail: `The task has no result, because it is ${row.status}.` });
  if (!isRetained || fileId === null || row.result === null) {
    throw createProblem('gone', {
      detail: `Results are kept for ${taskRetentionDays.result} days. Start the task again to create a new result.`,
    });
  }
  return { fileId, task: taskFromRow(row), result: row.result };
}
