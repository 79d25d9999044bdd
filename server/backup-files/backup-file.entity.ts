import { defineEntity, p } from '@mikro-orm/core';
import { backupCheckResults } from '@mandate/contract';

/** A backup in the backup directory. Background workers add and delete rows to keep the table consistent with the files. */
export const BackupFile = defineEntity({
  name: 'BackupFile',
  tableName: 'backup_files',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    /** Name in the backup directory, without a path. */
    fileName: p.text().unique(),
    createdAt: p.datetime(3),
    bytes: p.bigint('number'),
    /** Number of database rows in the backup. */
    rowCount: p.bigint('number'),
    checkedAt: p.datetime(3).nullable(),
    checkResult: p.enum(backupCheckResults).nullable(),
  },
  checks: [{ name: 'backup_files_checked', expression: '(checked_at is null) = (check_result is null)' }],
  indexes: [{ name: 'backup_files_created', properties: ['createdAt', 'id'] }],
});
