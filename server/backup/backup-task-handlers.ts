import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { backupCheckResults } from '@mandate/contract';
import { z } from 'zod';
import { BackupFile } from '../backup-files/backup-file.entity.ts';
import type { Database, EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { isTemporaryDatabaseError } from '../database/errors/database-error-predicates.ts';
import { PermanentTaskError } from '../tasks/permanent-task-error.ts';
import type { TaskRunnerDependencies } from '../tasks/run-queued-tasks.ts';
import { type ReportProgress, runStoringProgressAndRenewingLease } from '../tasks/run-storing-progress-and-renewing-lease.ts';
import type { TaskAttempt } from '../tasks/task-attempt.ts';
import { BackupError } from './backup-error.ts';
import { verifyBackupAndReadHeader } from './read-and-verify-backup.ts';
import { type BackupSummary, writeBackup } from './write-backup.ts';

export type BackupDirectory = {
  /** Path of the directory that the operator configured. The path must not appear in task errors, which are part of API responses. */
  readonly path: string;
  /** The backup key returned by `deriveKeys`. */
  readonly key: Buffer;
};

export type BackupTaskSettings = BackupDirectory & {
  /** Opens the database, or a copy of it, for reading. */
  readonly openSource: () => Promise<Database>;
};

/** Returns the handlers for the tasks that create and check backups in this directory. */
export const createBackupTaskHandlers = (settings: BackupTaskSettings) =>
  ({
    backup: (run) => createBackup(run, settings),
    backup_check: (run) => checkBackup(run, settings),
  }) satisfies TaskRunnerDependencies['handlers'];

async function createBackup(run: TaskAttempt, settings: BackupTaskSettings): Promise<undefined> {
  const createdAt = new Date();
  // A second attempt (after a crash) uses a different name, because a backup never overwrites a file.
  const fileName = `mandate-${createdAt.toISOString().replaceAll(/[-:]|\.\d+/g, '')}-${run.task.id}.backup`;
  const file = join(settings.path, fileName);
  try {
    // If the task is canceled, a partial or complete file can remain, which the `catch` block deletes.
    const { rows, bytes } = await runStoringProgressAndRenewingLease(run, (report) =>
      writeFromSource(settings, file, createdAt, report).catch(throwTaskError('The backup could not be created.')),
    );
    // The stored data can differ from the data that was written, for example because of a disk error.
    const verify = (report: ReportProgress) =>
      verifyBackupAndReadHeader(file, {
        key: settings.key,
        onBytes: (done, of) => report(rows + Math.floor((rows * done) / of), 2 * rows),
      });
    await runStoringProgressAndRenewingLease(run, (report) => verify(report).catch(throwTaskError('The backup could not be read back.')));
    await run.step(async (em) => {
      const row = { fileName, createdAt, bytes, rowCount: rows, checkedAt: new Date(), checkResult: 'intact' } as const;
      await em.upsert(BackupFile, row, { onConflictFields: ['fileName'] });
      return { checkpoint: {}, processed: 2 * rows, total: 2 * rows };
    });
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** Writes the backup. Writing the rows counts as the first half of the task's progress. */
async function writeFromSource(
  { key, openSource }: BackupTaskSettings,
  file: string,
  now: Date,
  report: ReportProgress,
): Promise<BackupSummary> {
  const source = await openSource();
  try {
    return await writeBackup(source, file, { key, now, onRows: (done, of) => report(done, 2 * of) });
  } finally {
    await source.close();
  }
}

const checkParamsSchema = z.object({ backup_id: z.number() });

async function checkBackup(run: TaskAttempt, { path, key }: BackupTaskSettings): Promise<undefined> {
  const { backup_id: id } = checkParamsSchema.parse(run.task.params);
  const backup = await run.em.fork().findOne(BackupFile, { id }, { disableIdentityMap: true });
  if (!backup) throw missingBackupError();
  const { fileName, rowCount } = backup;
  const result = await runStoringProgressAndRenewingLease(run, (report) =>
    verifyFile(join(path, fileName), key, (done, of) => report(Math.floor((rowCount * done) / of), rowCount)),
  );
  await run.step(async (em) => {
    await storeCheckResult(em, id, result);
    return { checkpoint: {}, processed: rowCount, total: rowCount };
  });
  if (result === 'missing') throw missingBackupError();
  if (result === 'damaged')
    throw new PermanentTaskError('backup_damaged', 'The file is damaged, so it cannot be restored. Create another backup.');
}

type CheckResult = (typeof backupCheckResults)[number] | 'missing';

async function verifyFile(file: string, key: Buffer, onBytes: ReportProgress): Promise<CheckResult> {
  try {
    await stat(file);
    await verifyBackupAndReadHeader(file, { key, onBytes });
    return 'intact';
  } catch (error) {
    if (error instanceof BackupError) return 'damaged';
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'missing';
    return throwTaskError('The backup could not be checked.')(error);
  }
}

async function storeCheckResult(em: EntityManager, id: number, result: CheckResult): Promise<void> {
  if (result === 'missing') await em.nativeDelete(BackupFile, { id });
  else await em.nativeUpdate(BackupFile, { id }, { checkedAt: new Date(), checkResult: result });
}

const missingBackupError = (): PermanentTaskError =>
  new PermanentTaskError('backup_missing', 'The file no longer exists in the backup directory.');

/**
 * Returns a function that converts an error into a task error and throws the task error. Messages of file and backup errors contain paths,
 * so these messages are only logged. A temporary database error is rethrown unchanged, so that the task is retried.
 */
const throwTaskError =
  (detail: string) =>
  (error: unknown): never => {
    if (isTemporaryDatabaseError(error)) throw error;
    throw new PermanentTaskError('backup_failed', `${detail} See the server log for the cause.`, error);
  };
