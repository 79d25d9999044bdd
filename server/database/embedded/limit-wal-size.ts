import { isWalSinceCheckpointLargerThan, writeCheckpoint } from './check-wal-and-write-checkpoint.sql.ts';
import type { Database } from '../entity-manager/entity-manager-type.ts';

/**
 * Start parameters that limit the size of the WAL that a checkpoint keeps for reuse. The server adds these parameters to PGlite's own
 * parameters.
 */
export const walLimitStartParameters = ['-c', 'max_wal_size=64MB', '-c', 'min_wal_size=32MB'];

const walBetweenCheckpoints = 32 * 1024 * 1024;

/**
 * Creates a job that writes regular checkpoints. Without this job, PGlite would write its first checkpoint only when it is closed, and
 * would keep all WAL until then.
 */
export const createWalLimitingCheckpointJob = (db: Database) => ({
  name: 'checkpoint of the embedded database',
  everyMs: 10_000,
  async run(): Promise<void> {
    const em = db.em.fork();
    if (await isWalSinceCheckpointLargerThan(em, walBetweenCheckpoints)) await writeCheckpoint(em);
  },
});
