import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupFile } from '../backup-files/backup-file.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Job } from '../jobs/job-runner.ts';
import type { Log } from '../logging/logger.ts';
import { BackupError } from './backup-error.ts';
import type { BackupHeader } from './backup-format.ts';
import type { BackupDirectory } from './backup-task-handlers.ts';
import { deleteOldBackups } from './delete-old-backups.ts';
import { readBackup } from './read-and-verify-backup.ts';

/**
 * While a backup is being written, its partial file changes continuously. A partial file that has not changed for this long was left behind
 * by a killed process.
 */
const abandonedAfterMs = 3_600_000;

/**
 * Returns the job that stores the list of backup files in the database, where every process can read it, and then deletes old backups.
 * @param directory `keep` is the number of backups to keep (see `deleteOldBackups`)
 */
export const createBackupFileSyncAndCleanupJob = (
  em: EntityManager,
  directory: BackupDirectory & { readonly keep: number; readonly log: Log },
): Job => ({
  name: 'backup files',
  everyMs: 60_000,
  run: async () => {
    await syncBackupFileRowsWithDirectory(em.fork(), directory, new Date());
    await deleteOldBackups(em.fork(), directory);
  },
});

/**
 * Makes the list of backups in the database match the directory. Backups that a command created are added, and backups that the operator
 * deleted are removed. A file whose size has changed is no longer considered checked.
 */
export async function syncBackupFileRowsWithDirectory(em: EntityManager, { path, key }: BackupDirectory, now: Date): Promise<void> {
  // The rows are read before the directory, so that a file that is added in the meantime is not considered deleted.
  const registered = await em.find(BackupFile, {}, { disableIdentityMap: true });
  const names = await readdir(path);
  const sizes = new Map<string, number>();
  for (const name of names.filter((each) => each.endsWith('.backup'))) {
    const size = await fileSize(join(path, name));
    if (size !== undefined) sizes.set(name, size);
  }
  for (const { id, fileName, bytes } of registered) {
    const size = sizes.get(fileName);
    if (size === undefined) await em.nativeDelete(BackupFile, { id });
    else if (size !== bytes) await em.nativeUpdate(BackupFile, { id }, { bytes: size, checkedAt: null, checkResult: null });
  }
  const known = new Set(registered.map(({ fileName }) => fileName));
  for (const [fileName, bytes] of sizes) if (!known.has(fileName)) await registerFile(em, { path, key }, fileName, bytes);
  for (const name of names.filter((each) => /^mandate-.*\.backup\.part$/.test(each))) await deleteIfAbandoned(join(path, name), now);
}

async function registerFile(em: EntityManager, { path, key }: BackupDirectory, fileName: string, bytes: number): Promise<void> {
  const header = await readHeader(join(path, fileName), key);
  if (!header) return;
  const row = { fileName, bytes, createdAt: new Date(header.created_at), rowCount: header.rows };
  // The task that created the file may concurrently insert a row with a check result, which must not be overwritten.
  await em.upsert(BackupFile, row, { onConflictFields: ['fileName'], onConflictAction: 'ignore' });
}

/** Returns the header of a backup; `undefined` if the file is not a backup of this installation. */
async function readHeader(file: string, key: Buffer): Promise<BackupHeader | undefined> {
  try {
    for await (const part of readBackup(file, { key, onBytes: () => undefined })) if ('header' in part) return part.header;
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
  }
  return undefined;
}

/** Returns the size of a file in bytes; `undefined` if it has been deleted, or is not a file. */
async function fileSize(file: string): Promise<number | undefined> {
  const stats = await stat(file).catch(() => undefined);
  return stats?.isFile() === true ? stats.size : undefined;
}

async function deleteIfAbandoned(file: string, now: Date): Promise<void> {
  const stats = await stat(file).catch(() => undefined);
  if (stats && now.getTime() - stats.mtimeMs > abandonedAfterMs) await rm(file, { force: true });
}
