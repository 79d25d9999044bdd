import { resolve } from 'node:path';
import { verifyBackupAndReadHeader } from '../backup/read-and-verify-backup.ts';
import { restoreBackupAndMigrate } from '../backup/restore-backup-and-migrate.ts';
import { readConfig } from '../config/read-config.ts';
import { deriveKeysFromExistingSecret, openDatabaseRunAndClose } from './open-database-and-derive-keys.ts';
import type { StandardStreams } from './standard-streams-type.ts';
import { createProgressBar } from './progress-bar.ts';
import { formatTableAndRowCounts, formatSecondsSince } from './format-counts-seconds-and-bytes.ts';

const alternative = 'Restore into a new database: set DATABASE_URL or MANDATE_DATA_DIR to it, or stop the server and move its database';

/** Implements `mandate-server restore FILE`. */
export async function runRestoreCommand({ stdout, stderr }: StandardStreams, file: string): Promise<void> {
  const [config, startedAt, path] = [readConfig(), performance.now(), resolve(file)];
  const key = (await deriveKeysFromExistingSecret(config)).backups;
  const onProgress = createProgressBar(stderr);
  // the backup is verified before the database is opened, because opening a nonexistent embedded database creates it
  const header = await verifyBackupAndReadHeader(path, { key, onBytes: (done, of) => onProgress('check', done, of) });
  const migrated = await openDatabaseRunAndClose(config, alternative, (db) =>
    restoreBackupAndMigrate(db, path, header, { key, onProgress }),
  );
  stdout.write(
    `${file} of ${header.created_at}: ${formatTableAndRowCounts(header)}, restored and compared in ${formatSecondsSince(startedAt)}\n`,
  );
  for (const name of migrated) stdout.write(`applied  ${name}\n`);
}
