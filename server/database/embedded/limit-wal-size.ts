import type { Database } from '../entity-manager/entity-manager.ts';

/** Start parameters in addition to PGlite's own: they limit the WAL that a checkpoint keeps for reuse. */
export const walStartParameters = ['-c', 'max_wal_size=64MB', '-c', 'min_wal_size=32MB'];

const walBetweenCheckpoints = 32 * 1024 * 1024;

/** Creates a job for regular checkpoints: PGlite writes no checkpoint until it is closed, and keeps all WAL until then. */
export const createCheckpointJob = (db: Database) => ({
  name: 'checkpoint of the embedded database',
  everyMs: 10_000,
  async run(): Promise<void> {
    const em = db.em.fork();
    const overdue = await em.execute('select from pg_control_checkpoint() where pg_current_wal_insert_lsn() - redo_lsn > ?', [
      walBetweenCheckpoints,
    ]);
    if (overdue.length > 0) await em.execute('checkpoint');
  },
});
