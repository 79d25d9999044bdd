import { resolve } from 'node:path';
import { openExistingDatabaseOrCopy } from '../backup/open-existing-database-or-copy.ts';
import { writeBackup } from '../backup/write-backup.ts';
import { readConfig } from '../config/read-config.ts';
import { assertSecretMatchesSigningKeys } from '../oauth/signing-keys/assert-secret-matches-signing-keys.ts';
import { deriveKeysFromExistingSecret } from './open-database-and-derive-keys.ts';
import type { StandardStreams } from './standard-streams-type.ts';
import { createProgressBar } from './progress-bar.ts';
import { formatTableAndRowCounts, formatSecondsSince, formatBytes } from './format-counts-seconds-and-bytes.ts';

/** Implements `mandate-server backup FILE`. */
export async function runBackupCommand({ stdout, stderr }: StandardStreams, file: string): Promise<void> {
  const [config, startedAt] = [readConfig(), performance.now()];
  const keys = await deriveKeysFromExistingSecret(config);
  const onProgress = createProgressBar(stderr);
  const db = await openExistingDatabaseOrCopy(config.directDatabaseUrl ?? config.databaseUrl, config);
  try {
    // With a different secret, the encrypted data in the backup could not be decrypted after a restore.
    await assertSecretMatchesSigningKeys(db.em.fork(), keys.signingKeys);
    const onRows = (done: number, of: number): void => onProgress('rows', done, of);
    const summary = await writeBackup(db, resolve(file), { key: keys.backups, now: new Date(), onRows });
    stdout.write(`${file}: ${formatTableAndRowCounts(summary)}, ${formatBytes(summary.bytes)}, in ${formatSecondsSince(startedAt)}\n`);
    stderr.write(
      'Restoring the backup requires MANDATE_SECRET, which the backup does not contain. Store the secret in a different place.\n',
    );
  } finally {
    await db.close();
  }
}
