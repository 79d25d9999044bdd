import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { deleteStoredFile } from './stored-file.ts';
import { taskRetentionDays } from './task-rows.ts';

// Task rows remain, so that an expired task (410) can be distinguished from one that never existed (404); their personal data is deleted.
const clearResults = prepareStatement<{ id: number }>(
  'clear_expired_task_results',
  `with old as (
     select id from tasks where finished_at <= now() - interval '${taskRetentionDays.result} days' and output_id is not null limit $1)
   update tasks set output_id = null from old where tasks.id = old.id returning old.id`,
);
const clearTasks = prepareStatement<{ id: number }>(
  'clear_old_task_parameters',
  `with old as (
     select id from tasks where finished_at <= now() - interval '${taskRetentionDays.task} days' and params <> '{}' limit $1)
   update tasks set params = '{}', result = null, error = null, imported = null from old where tasks.id = old.id returning old.id`,
);
const clearInputs = prepareStatement<{ id: number }>(
  'clear_task_inputs',
  `with old as (select id from tasks where finished_at is not null and input_id is not null limit $1)
   update tasks set input_id = null from old where tasks.id = old.id returning old.id`,
);
// Files of uploads whose request failed before the task was created, partial outputs of canceled tasks, and partitions of imported files.
const findUnusedFiles = prepareStatement<{ id: number }>(
  'find_unused_task_files',
  `select f.id from task_files f
    where f.created_at < now() - interval '1 day'
      and not exists (select 1 from tasks t where t.output_id = f.id or t.input_id = f.id)
      and not exists (
        select 1 from tasks t
         where t.status in ('queued', 'running')
           and ((t.checkpoint ->> 'fileId')::bigint = f.id or t.checkpoint -> 'partitions' @> to_jsonb(f.id)))
    limit $1`,
);

async function deleteUnusedFiles(em: EntityManager, [limit]: readonly [number]): Promise<readonly unknown[]> {
  const files = await findUnusedFiles(em, [limit]);
  for (const { id } of files) await deleteStoredFile(em, id);
  return files;
}

const batchSize = 100;

/**
 * Deletes one batch each of expired results, task data, input files and unused files. Returns the number of changes; 0 means that none is
 * left.
 */
export async function deleteOldTaskData(em: EntityManager): Promise<number> {
  let count = 0;
  for (const deleteBatch of [clearResults, clearTasks, clearInputs, deleteUnusedFiles])
    count += (await deleteBatch(em, [batchSize])).length;
  return count;
}
