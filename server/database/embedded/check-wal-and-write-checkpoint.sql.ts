import type { EntityManager } from '../entity-manager/entity-manager-type.ts';

/** Returns whether more than `bytes` bytes of WAL have been written since the last checkpoint. */
export async function isWalSinceCheckpointLargerThan(em: EntityManager, bytes: number): Promise<boolean> {
  // Written in SQL because MikroORM has no functions for the WAL.
  const overdue = await em.execute('select from pg_control_checkpoint() where pg_current_wal_insert_lsn() - redo_lsn > ?', [bytes]);
  return overdue.length > 0;
}

/** Writes all changes to the data files. */
export async function writeCheckpoint(em: EntityManager): Promise<void> {
  // Written in SQL because MikroORM has no function for checkpoints.
  await em.execute('checkpoint');
}
