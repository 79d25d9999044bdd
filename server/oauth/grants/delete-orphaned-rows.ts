import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';

const batchSize = 1_000;
const dayMs = 24 * 60 * 60 * 1000;

// Rows younger than a day are skipped: the row of a browser is written before its session is stored.
const deleteStatements = [
  prepareStatement<{ deleted: number }>(
    'delete_orphaned_connected_apps',
    `delete from connections where id in
       (select c.id from connections c where coalesce(c.last_used_at, c.created_at) < $1
         and not exists (select 1 from oauth_records g where g.model = 'Grant' and g.id = c.grant_id) limit ${batchSize})
     returning 1 as deleted`,
  ),
  prepareStatement<{ deleted: number }>(
    'delete_orphaned_browser_sessions',
    `delete from browser_sessions where uid in
       (select b.uid from browser_sessions b where b.last_used_at < $1
         and not exists (select 1 from oauth_records s where s.model = 'Session' and s.uid = b.uid) limit ${batchSize})
     returning 1 as deleted`,
  ),
];

/** Deletes connected apps without a grant and browser sessions without a session record. Returns the number of deleted rows. */
export async function deleteOrphanedRows(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - dayMs);
  let total = 0;
  for (const deleteBatch of deleteStatements) {
    for (let deleted = batchSize; deleted === batchSize; total += deleted) deleted = (await deleteBatch(em, [before])).length;
  }
  return total;
}
