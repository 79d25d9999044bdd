import type { Task } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { type StoredTaskResult, taskColumnsSql, type TaskRow, taskFromRow } from './task-rows.ts';

// Cancellation needs no lease. Otherwise, only the holder of the current lease can finish the task.
const finish = prepareStatement<TaskRow>(
  'finish_task',
  `update tasks set status = $3, finished_at = now(), result = $4::jsonb, error = $5::jsonb, output_id = $6, checkpoint = null
    where id = $1 and status in ('queued', 'running') and ($2::int is null or attempts = $2)
   returning ${taskColumnsSql}`,
);

type TaskEnd =
  | { readonly status: 'succeeded'; readonly result: StoredTaskResult; readonly fileId: number }
  | { readonly status: 'failed'; readonly error: NonNullable<Task['error']> }
  | { readonly status: 'canceled' };

/**
 * Sets the final status of a task and records the event, in one transaction. Returns `undefined` if the task has ended or another process
 * holds it.
 */
export async function finishTask(em: EntityManager, id: number, lease: number | null, end: TaskEnd): Promise<Task | undefined> {
  const result = end.status === 'succeeded' ? JSON.stringify(end.result) : null;
  const error = end.status === 'failed' ? JSON.stringify(end.error) : null;
  const [row] = await finish(em, [id, lease, end.status, result, error, end.status === 'succeeded' ? end.fileId : null]);
  if (!row) return undefined;
  const task = taskFromRow(row);
  await recordEvent(em, `task.${end.status}`, task, task.user_id);
  return task;
}
