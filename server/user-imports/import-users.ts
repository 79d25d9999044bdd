import type { ImportFile } from '../imports/import-file-record.ts';
import { readImportRecords } from '../imports/read-import-records.ts';
import { runImport } from '../imports/run-import.ts';
import { validateAndCountRecords } from '../imports/validate-and-count-records.ts';
import { toStoredImportedPasswordHash } from '../oauth/passwords/imported/stored-imported-password-hash.ts';
import { requireTaskInputFileId, type TaskAttempt, type TaskOutcome } from '../tasks/task-attempt.ts';
import { importUserBatch } from './import-user-batch.ts';
import { classifyUserRows } from './classify-user-rows.ts';
import { type PreparedUserRecord, readUserRecords } from './read-user-records.ts';
import { type UserImportParams, userImportTaskParamsSchema } from './user-import-parameters.ts';

/** Imports users from a file: creates new users, and never changes existing ones. */
export async function importUsers(run: TaskAttempt): Promise<TaskOutcome> {
  const { task, em } = run;
  const params = userImportTaskParamsSchema.parse(task.params);
  const file: ImportFile = {
    em,
    fileId: requireTaskInputFileId(task),
    format: params.format,
    jsonColumns: [params.metadata_column],
    renewLease: () => run.renewLease(),
  };
  return runImport<PreparedUserRecord>(run, {
    dryRun: params.dry_run === 'true',
    checkFile: async () => ({ total: await validateAndCountRecords(readImportRecords(file), [params.email_column]) }),
    readItems: (from) => readUserRecords(file, params, from),
    countRows: () => 1,
    firstLine: ({ record }) => record.line,
    prepareItems: (items) => prepareRecords(run, params, items),
    importItem: async (inner, item) => {
      const [outcome] = await importUserBatch(inner, params, [item]);
      if (!outcome) throw new Error('an imported row has no outcome');
      return outcome;
    },
    importItems: (inner, items) => importUserBatch(inner, params, items),
  });
}

/** Wraps the weak password hashes of new users. */
async function prepareRecords(
  run: TaskAttempt,
  params: UserImportParams,
  items: readonly PreparedUserRecord[],
): Promise<PreparedUserRecord[]> {
  if (params.dry_run === 'true') return [...items];
  const rows = await classifyUserRows(run.em.fork(), params, items);
  const prepared: PreparedUserRecord[] = [];
  for (const { item, row } of rows) {
    const password = row?.password_hash;
    prepared.push(password ? { ...item, storedPasswordHash: await toStoredImportedPasswordHash(password.text, password.hash) } : item);
    await run.renewLease();
  }
  return prepared;
}
