import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

// Uploaded files whose request failed before the task was created, partial outputs of canceled tasks, and partitions of imported files.
// SQL, because MikroORM has no JSON containment.
const selectUnusedFiles = prepareStatement<{ id: number }>(
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

/** Returns the ids of up to `limit` stored files that no task uses. */
export const findUnusedFiles = async (em: EntityManager, limit: number): Promise<number[]> =>
  (await selectUnusedFiles(em, [limit])).map(({ id }) => id);
