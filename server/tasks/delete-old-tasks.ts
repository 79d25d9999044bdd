import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { removeStoredFile } from './stored-file.ts';
import { keptDays } from './task-rows.ts';

// Rows of tasks stay, so that what was there once can be told from what never was; what they said of somebody goes.
const forgetResults = statement<{ id: number }>(
  'forget_task_results',
  `with old as (
     select id from tasks where finished_at <= now() - interval '${keptDays.result} days' and output_id is not null limit $1)
   update tasks set output_id = null from old where tasks.id = old.id returning old.id`,
);
const forgetTasks = statement<{ id: number }>(
  'forget_tasks',
  `with old as (
     select id from tasks where finished_at <= now() - interval '${keptDays.task} days' and params <> '{}' limit $1)
   update tasks set params = '{}', result = null, error = null, imported = null from old where tasks.id = old.id returning old.id`,
);
const forgetInputs = statement<{ id: number }>(
  'forget_task_inputs',
  `with old as (select id from tasks where finished_at is not null and input_id is not null limit $1)
   update tasks set input_id = null from old where tasks.id = old.id returning old.id`,
);
// An upload whose request ended before its task began, the half-written file of a task that was canceled, or the parts of an imported file.
const findUnusedFiles = statement<{ id: number }>(
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

async function removeFiles(em: Em, [limit]: readonly [number]): Promise<readonly unknown[]> {
  const files = await findUnusedFiles(em, [limit]);
  for (const { id } of files) await removeStoredFile(em, id);
  return files;
}

const batch = 100;

/** Forgets what is kept no longer. Gives how much that was; less than a batch of each means that nothing is left. */
export async function sweepTasks(em: Em): Promise<number> {
  let count = 0;
  for (const forget of [forgetResults, forgetTasks, forgetInputs, removeFiles]) count += (await forget(em, [batch])).length;
  return count;
}
