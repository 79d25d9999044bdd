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
  const [config, begun] = [readConfig(), performance.now()];
  const keys = await keysOf(config);
  const onProgress = progressBar(stderr);
  const db = await openForReading(config.directDatabaseUrl ?? config.databaseUrl, config);
  try {
    // sealed with another secret than this one, what is in it could not be opened after it was restored
    await expectSecretOf(db.em.fork(), keys.signingKeys);
    const onRows = (done: number, of: number): void => onProgress('rows', done, of);
    const made = await writeBackup(db, resolve(file), { key: keys.backups, now: new Date(), onRows });
    stdout.write(`${file}: ${describeContents(made)}, ${sizeOf(made.bytes)}, in ${secondsSince(begun)}\n`);
    stderr.write('Restoring it takes MANDATE_SECRET, which is not in it: keep both, and not in one place.\n');
  } finally {
    await db.close();
  }
}
