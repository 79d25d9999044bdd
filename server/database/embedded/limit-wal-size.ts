import type { Database } from '../entity-manager/entity-manager.ts';

/** In addition to PGlite's own start parameters: a checkpoint keeps this much WAL for reuse at most. */
export const walStartParameters = ['-c', 'max_wal_size=64MB', '-c', 'min_wal_size=32MB'];

const walBetweenCheckpoints = 32 * 1024 * 1024;

/** PGlite writes no checkpoints of its own until it is closed, and keeps all WAL until then. */
export const limitWalJob = (db: Database) => ({
  name: 'checkpoint of the embedded database',
  everyMs: 10_000,
  async run(): Promise<void> {
    const em = db.em.fork();
    const due = await em.execute('select from pg_control_checkpoint() where pg_current_wal_insert_lsn() - redo_lsn > ?', [
      walBetweenCheckpoints,
    ]);
    if (due.length > 0) await em.execute('checkpoint');
  },
});
