import type { Task } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { allowedScopes } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { keptDays, ownerOf, type StoredResult, taskColumns, type TaskRow, toTask } from './task-rows.ts';

type Found = TaskRow & { output_id: number | null; kept: boolean; result_kept: boolean };

// Somebody else's task is not found, and neither is one that this token could not have started.
const readTask = statement<Found>(
  'read_task',
  `select ${taskColumns}, output_id,
          coalesce(finished_at > now() - interval '${keptDays.task} days', true) as kept,
          coalesce(finished_at > now() - interval '${keptDays.result} days', true) as result_kept
     from tasks where id = $1 and owner = $2 and needs <@ $3::text[]`,
);

async function find(em: Em, principal: Principal, id: number): Promise<Found> {
  const [row] = await readTask(em, [id, ownerOf(principal), allowedScopes(principal)]);
  if (!row) throw problem('not_found', { detail: `Task ${id} was not found.` });
  if (!row.kept) throw problem('gone', { detail: `Tasks are kept for ${keptDays.task} days after their end.` });
  return row;
}

export const findTask = async (em: Em, principal: Principal, id: number): Promise<Task> => {
  const { output_id: _, kept: __, result_kept: ___, ...row } = await find(em, principal, id);
  return toTask(row);
};

export type Result = { readonly fileId: number; readonly task: Task; readonly result: StoredResult };

/** The file that a task wrote, once it has succeeded and as long as it is kept. */
export async function findResult(em: Em, principal: Principal, id: number): Promise<Result> {
  const { output_id: fileId, result_kept: kept, ...row } = await find(em, principal, id);
  if (row.status === 'queued' || row.status === 'running') {
    throw problem('task_not_finished', { detail: 'The result is there once the task has succeeded.', headers: { 'Retry-After': '2' } });
  }
  if (row.status !== 'succeeded') throw problem('not_found', { detail: `The task was not carried out: it is ${row.status}.` });
  if (!kept || fileId === null || row.result === null) {
    throw problem('gone', { detail: `Results are kept for ${keptDays.result} days. Start the task again for a new one.` });
  }
  return { fileId, task: toTask(row), result: row.result };
}
