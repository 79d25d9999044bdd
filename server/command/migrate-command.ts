import { openExistingDatabaseOrCopy } from '../backup/open-existing-database-or-copy.ts';
import { readConfig } from '../config/read-config.ts';
import { migrate } from '../database/migrate/run-migrations.ts';
import { readMigrationState } from '../database/migrate/read-migration-state.ts';
import { openDatabaseRunAndClose } from './open-database-and-derive-keys.ts';
import type { StandardStreams } from './standard-streams-type.ts';

/** Implements `mandate-server migrate`. */
export async function runMigrateCommand({ stdout }: StandardStreams): Promise<void> {
  const applied = await openDatabaseRunAndClose(
    readConfig(),
    'That server applied all migrations of its release when it started; stop it first.',
    migrate,
  );
  for (const name of applied) stdout.write(`applied  ${name}\n`);
  if (applied.length === 0) stdout.write('Nothing is pending.\n');
}

/** Implements `mandate-server migrate --status`. */
export async function printMigrationStatus({ stdout }: StandardStreams): Promise<void> {
  const config = readConfig();
  const db = await openExistingDatabaseOrCopy(config.directDatabaseUrl ?? config.databaseUrl, config);
  try {
    const { applied, pending, unknown } = await readMigrationState(db.em.fork());
    for (const name of applied) stdout.write(`applied  ${name}${unknown.includes(name) ? '  by a newer release' : ''}\n`);
    for (const name of pending) stdout.write(`pending  ${name}\n`);
  } finally {
    await db.close();
  }
}
