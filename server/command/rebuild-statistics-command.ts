import { readConfig } from '../config/read-config.ts';
import { migrate } from '../database/migrate/run-migrations.ts';
import { rebuildOrderStatistics } from '../statistics/query-update-and-rebuild-statistics.ts';
import { openDatabaseRunAndClose } from './open-database-and-derive-keys.ts';
import type { StandardStreams } from './standard-streams-type.ts';

const alternative = 'Stop the server first: an embedded database can be used by one process at a time';

/**
 * Implements `mandate-server statistics rebuild`, which recalculates the order statistics from the orders. Servers can keep running while
 * the command runs.
 */
export async function runRebuildStatisticsCommand({ stdout }: StandardStreams): Promise<void> {
  const rows = await openDatabaseRunAndClose(readConfig(), alternative, async (db) => {
    await migrate(db);
    return rebuildOrderStatistics(db.em.fork());
  });
  stdout.write(`The order statistics were recalculated from the orders: ${rows} rows.\n`);
}
