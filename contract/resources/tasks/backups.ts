import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import {
  bodyProblemCodes,
  commonProblemTypes,
  cursorProblemCodes,
  declareProblemResponses,
  idempotencyProblemCodes,
  problemCodesOfAuthorizedOperations,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { taskCreationProblemCodes, taskProblemTypes, taskSchema } from './tasks.ts';

const c = initContract();

export const backupProblemTypes = {
  backups_not_configured: { status: 409, title: 'No backup directory is configured' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...taskProblemTypes, ...backupProblemTypes });

export const backupCheckResults = ['intact', 'damaged'] as const;

export const backupSchema = withSchemaName(
  'Backup',
  z.object({
    id: idSchema,
    file_name: z.string().describe("Name of the file in the server's backup directory."),
    created_at: timestampSchema.describe(
      'When the backup was created. The backup contains everything that was committed before this time.',
    ),
    bytes: z.number().int().min(0).describe('Size of the file, in bytes.'),
    rows: z.number().int().min(0).describe('Number of database rows in the backup.'),
    checked_at: timestampSchema.nullable().describe('When the file was last checked; `null` if it has not been checked.'),
    check_result: extensibleEnumSchema(backupCheckResults)
      .nullable()
      .describe(
        'Result of the last check. `intact`: all rows in the file were read, and its checksums and its signature are correct. `damaged`: the file cannot be restored.',
      ),
  }),
);

const access = ['backups.manage'] as const;
const backupPath = z.object({ backup_id: pathIdSchema('ID of the backup.') });
const problemCodesOfBackupTasks = [
  ...problemCodesOfAuthorizedOperations,
  ...bodyProblemCodes,
  ...idempotencyProblemCodes,
  ...taskCreationProblemCodes,
  'backups_not_configured',
] as const;

export const backupRoutes = defineResource('Backups', 'Backups of the whole database, in a directory that the operator configures.', {
  list: {
    method: 'GET',
    path: '/backups',
    query: z.object({ limit: paginationParameters.limit, cursor: paginationParameters.cursor }).strict(),
    summary: 'List backups',
    description:
      'Returns the backups of this database in the backup directory, newest first, including those that `mandate-server backup` wrote there. After a file is added or deleted, the list shows the change within a minute. Requires an administrator account.',
    responses: {
      200: listPageSchema('BackupPage', backupSchema),
      ...fails(...problemCodesOfAuthorizedOperations, ...cursorProblemCodes, 'backups_not_configured'),
    },
    metadata: declareRouteMetadata({ operationId: 'backups.list', access }),
  },
  create: {
    method: 'POST',
    path: '/backups',
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Create a backup',
    description:
      'Starts a task that writes the whole database to a new file in the backup directory, while the server keeps running, and then checks the file. The progress count includes each row twice: once when it is written and once when it is checked. The task has no result file, because the backup can only be read on the server. Requires an administrator account.',
    responses: { 202: taskSchema, ...fails(...problemCodesOfBackupTasks) },
    metadata: declareRouteMetadata({ operationId: 'backups.create', access, idempotent: true }),
  },
  check: {
    method: 'POST',
    path: '/backups/:backup_id/checks',
    pathParams: backupPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Check a backup',
    description:
      'Starts a task that reads the whole file and verifies its checksums and its signature. The task fails with the code `backup_damaged` if the file cannot be restored, and with `backup_missing` if it no longer exists. Only restoring the backup into another database proves that the server can run on the restored data. Requires an administrator account.',
    responses: { 202: taskSchema, ...fails(...problemCodesOfBackupTasks, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'backups.check', access, idempotent: true }),
  },
});
export type Backup = z.output<typeof backupSchema>;
