import type { ImportFile } from '../imports/import-row-types-and-cell-normalization.ts';
import { readImportRows } from '../imports/read-import-rows.ts';
import { runImport } from '../imports/run-import.ts';
import { validateAndCountRows } from '../imports/validate-and-count-rows.ts';
import { toStoredImportedPasswordHash } from '../oauth/passwords/imported/stored-imported-password-hash.ts';
import { requireTaskInputFileId, type TaskAttempt, type TaskOutcome } from '../tasks/task-attempt.ts';
import { importUserBatch } from './import-user-batch.ts';
import { parseUserRowsAndCompareWithExisting } from './parse-user-rows-and-compare-with-existing.ts';
import { type PreparedUserFileRow, readUserRowsAndMarkDuplicates } from './read-user-rows-and-mark-duplicates.ts';
import { type UserImportParams, userImportTaskParamsSchema } from './user-import-parameters.ts';

/** Imports users from a file. Creates new users, but never changes existing users. */
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
  return runImport<PreparedUserFileRow>(run, {
    dryRun: params.dry_run === 'true',
    checkFile: async () => ({ total: await validateAndCountRows(readImportRows(file), [params.email_column]) }),
    readItems: (from) => readUserRowsAndMarkDuplicates(file, params, from),
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

/** Converts the password hashes of new users to the stored format, which wraps weak hashes. */
async function prepareRecords(
  run: TaskAttempt,
  params: UserImportParams,
  items: readonly PreparedUserFileRow[],
): Promise<PreparedUserFileRow[]> {
  if (params.dry_run === 'true') return [...items];
  const rows = await parseUserRowsAndCompareWithExisting(run.em.fork(), params, items);
  const prepared: PreparedUserFileRow[] = [];
  for (const { item, row } of rows) {
    const password = row?.password_hash;
    prepared.push(password ? { ...item, storedPasswordHash: await toStoredImportedPasswordHash(password.text, password.hash) } : item);
    await run.renewLease();
  }
  return prepared;
}
