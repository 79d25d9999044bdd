import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InferEntity } from '@mikro-orm/core';
import { BackupFile } from '../backup-files/backup-file.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Log } from '../logging/logger.ts';

type Backup = Pick<InferEntity<typeof BackupFile>, 'id' | 'fileName' | 'createdAt' | 'checkResult'>;

/** Names of the backup files that tasks create. Files with other names belong to the operator. */
const nameOfTaskBackup = /^mandate-\d{8}T\d{6}Z-\d+\.backup$/;

/**
 * Returns the backups that can be deleted. The newest `keep` backups are kept. For each of the latest `keep` days (UTC) that have backups,
 * the newest backup is also kept, so that many backups on one day do not displace those of earlier days. Damaged backups do not count, and
 * are kept as long as an older backup is kept. The newest backup that was found intact is always kept.
 * @param backups sorted by creation time, newest first
 * @param keep number of backups and number of days, at least 1
 */
function selectOldBackups(backups: readonly Backup[], keep: number): Backup[] {
  const usable = backups.filter(({ checkResult }) => checkResult !== 'damaged');
  if (usable.length === 0) return [];
  const dayOf = ({ createdAt }: Backup): string => createdAt.toISOString().slice(0, 10);
  const newestOfEachDay = usable.filter((backup, index) => index === 0 || dayOf(backup) !== dayOf(usable[index - 1] ?? backup));
  const intact = backups.filter(({ checkResult }) => checkResult === 'intact').slice(0, 1);
  const kept = new Set([...usable.slice(0, keep), ...newestOfEachDay.slice(0, keep), ...intact]);
  const oldestKept = Math.min(...[...kept].map(({ createdAt }) => createdAt.getTime()));
  return backups.filter((backup) => !kept.has(backup) && (backup.checkResult !== 'damaged' || backup.createdAt.getTime() < oldestKept));
}

/**
 * Deletes old backups that tasks created. Files with other names are neither deleted nor counted.
 * @param keep see `selectOldBackups`; 0 keeps all backups
 */
export async function deleteOldBackups(
  em: EntityManager,
  { path, keep, log }: { readonly path: string; readonly keep: number; readonly log: Log },
): Promise<void> {
  if (keep === 0) return;
  const backups = await em.find(BackupFile, {}, { orderBy: { createdAt: 'desc', id: 'desc' }, disableIdentityMap: true });
  const ofTasks = backups.filter(({ fileName }) => nameOfTaskBackup.test(fileName));
  for (const { id, fileName } of selectOldBackups(ofTasks, keep)) {
    await rm(join(path, fileName), { force: true });
    await em.nativeDelete(BackupFile, { id });
    log.info({ file_name: fileName, keep }, 'an old backup was deleted');
  }
}
