import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { lockRows } from '../database/queries/lock-rows.sql.ts';
import { User } from './user.entity.ts';

/**
 * Locks the user's row until the transaction completes, without blocking inserts of rows that reference the user. Transactions that add or
 * remove credentials take this lock first, so that each transaction sees what the others have committed.
 */
export async function lockUserRow(em: EntityManager, userId: number): Promise<void> {
  await lockRows(em, em.createQueryBuilder(User).select('id').where({ id: userId }));
}
