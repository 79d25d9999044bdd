import { resolve } from 'node:path';
import { openForReading } from '../backup/open-database-read-only.ts';
import { writeBackup } from '../backup/write-backup.ts';
import { readConfig } from '../config/config.ts';
import { expectSecretOf } from '../oauth/signing-keys/require-encryption-secret.ts';
import { keysOf } from './with-database.ts';
import type { Io } from './io.ts';
import { progressBar } from './progress-bar.ts';
import { describeContents, secondsSince, sizeOf } from './format-output.ts';

/** `mandate-server backup FILE` */
export async function backup({ stdout, stderr }: Io, file: string): Promise<void> {
  const [config, startedAt] = [readConfig(), performance.now()];
  const keys = await keysOf(config);
  const onProgress = progressBar(stderr);
  const db = await openForReading(config.directDatabaseUrl ?? config.databaseUrl, config);
  try {
    // Otherwise, the encrypted data in the backup could not be decrypted after a restore.
    await expectSecretOf(db.em.fork(), keys.signingKeys);
    const onRows = (done: number, of: number): void => onProgress('rows', done, of);
    const summary = await writeBackup(db, resolve(file), { key: keys.backups, now: new Date(), onRows });
    stdout.write(`${file}: ${describeContents(summary)}, ${sizeOf(summary.bytes)}, in ${secondsSince(startedAt)}\n`);
    stderr.write('Restoring it requires MANDATE_SECRET, which it does not contain. Store both, in different places.\n');
  } finally {
    await db.close();
  }
}
