import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';

/** Rows per statement, so that each one is short. Rows that a request has locked are skipped and deleted later. */
const batchSize = 1_000;

// A consumed token is stored until it expires, and a consumed code until its grant expires (postgres-adapter.ts), so that reuse is detected.
const deleteBatch = prepareStatement<{ id: string }>(
  'delete_expired_oauth_records',
  `delete from oauth_records where (model, id) in
     (select model, id from oauth_records where expires_at < $1 order by expires_at limit ${batchSize} for update skip locked)
   returning id`,
);

/** Deletes one batch of expired records and returns their number. Call it again until it returns 0. */
export const deleteExpiredRecords = async (em: EntityManager, now: Date): Promise<number> => (await deleteBatch(em, [now])).length;
