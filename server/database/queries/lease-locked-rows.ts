import type { EntityManager } from '../entity-manager/entity-manager-type.ts';

/**
 * A queued row. `dueAt` is the time of the next attempt. To lease a row, a process sets `dueAt` to a later time, so that no other process
 * selects the row.
 */
type QueuedRow = { attempts: number; dueAt: Date };

/**
 * Leases locked rows until the given time, and increments their attempt counters. Call this in the transaction that has locked the rows.
 */
export async function leaseLockedRowsAndCountAttempt<Row extends QueuedRow>(em: EntityManager, rows: Row[], until: Date): Promise<Row[]> {
  for (const row of rows) {
    row.attempts += 1;
    row.dueAt = until;
  }
  await em.flush();
  return rows;
}
