import { readFile, writeFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createBackupHmac, formatBackupStructureLine } from '../../../server/backup/backup-format.ts';
import { writeBackup, type BackupSummary } from '../../../server/backup/write-backup.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { testServerSecret } from './test-server-secret.ts';

export const backupKey = deriveKeys(testServerSecret).backups;

export const writeTestBackup = (db: Database, file: string): Promise<BackupSummary> =>
  writeBackup(db, file, { key: backupKey, now: new Date('2026-11-20T10:00:00Z'), onRows: () => undefined });

/** Returns a backup file's lines, without the seal. */
export const readBackupLines = async (file: string): Promise<string[]> =>
  gunzipSync(await readFile(file))
    .toString()
    .trimEnd()
    .split('\n')
    .slice(0, -1);

/** Writes a backup file with these lines. The seal is valid only if `key` is the server's backup key. */
export async function writeBackupLines(file: string, lines: readonly string[], key: Buffer): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join('');
  await writeFile(file, gzipSync(text + formatBackupStructureLine({ seal: createBackupHmac(key).update(text).digest('base64url') })));
}
