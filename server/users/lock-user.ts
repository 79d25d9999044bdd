import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

const selectUserForUpdate = prepareStatement('lock_user', 'select id from users where id = $1 for no key update');

/**
 * Locks the user's row until the transaction completes, without blocking foreign keys to it. Transactions that add or remove
 * credentials take this lock first, so that each sees what the others have committed.
 */
export async function lockUser(em: EntityManager, userId: number): Promise<void> {
  await selectUserForUpdate(em, [userId]);
}
