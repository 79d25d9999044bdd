import { userExportColumns, userExportCreateSchema, type UserExportCreate } from '@mandate/contract';
import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { appendToStoredFile, createStoredFile } from '../tasks/stored-task-file.ts';
import { formatFormulaSafeCsv, type CsvCell } from '../tasks/format-formula-safe-csv.ts';
import type { TaskAttempt, TaskOutcome } from '../tasks/task-attempt.ts';
import { User } from '../users/user.entity.ts';
import { type UserExportRow, readConsentExportRows, readUserExportRows } from './read-user-and-consent-export-rows.ts';

/** Number of users per transaction. */
const batchUsers = 500;

const checkpointSchema = z.object({
  fileId: z.number(),
  chunks: z.number(),
  rows: z.number(),
  users: z.number(),
  /** ID of the last exported user. */
  after: z.number(),
});
type Checkpoint = z.output<typeof checkpointSchema>;

/**
 * Writes users or their consents to a file in batches, in user ID order. After a crash, the export resumes after the last completed batch.
 */
export async function exportUsersOrConsents(run: TaskAttempt): Promise<TaskOutcome> {
  const params = userExportCreateSchema.parse(run.task.params);
  let checkpoint = run.task.checkpoint === null ? await createCheckpoint(run, params) : checkpointSchema.parse(run.task.checkpoint);
  for (let more = true; more;) {
    const from = checkpoint;
    ({ checkpoint, more } = await run.step((em) => exportBatch(em, params, from)));
  }
  return { fileId: checkpoint.fileId, format: params.format, rows: checkpoint.rows, imported: null };
}

async function createCheckpoint(run: TaskAttempt, params: UserExportCreate): Promise<Checkpoint> {
  const progress = await run.step(async (em) => {
    const fileId = await createStoredFile(em);
    const header = params.format === 'csv' ? formatFormulaSafeCsv([exportedColumns(params)]) : '';
    const chunks = await appendToStoredFile(em, fileId, 0, Buffer.from(header));
    const total = await em.count(User, { status: { $ne: 'closed' } });
    return { checkpoint: { fileId, chunks, rows: 0, users: 0, after: 0 }, processed: 0, total };
  });
  return progress.checkpoint;
}

async function exportBatch(em: EntityManager, params: UserExportCreate, checkpoint: Checkpoint) {
  const filter = { id: { $gt: checkpoint.after }, status: { $ne: 'closed' as const } };
  const users = await em.find(User, filter, { orderBy: { id: 'asc' }, limit: batchUsers, disableIdentityMap: true });
  const rows =
    params.rows === 'users' ? await readUserExportRows(em, users, params.password_hashes) : await readConsentExportRows(em, users);
  const next: Checkpoint = {
    fileId: checkpoint.fileId,
    chunks: await appendToStoredFile(em, checkpoint.fileId, checkpoint.chunks, serializeRows(params, rows)),
    rows: checkpoint.rows + rows.length,
    users: checkpoint.users + users.length,
    after: users.at(-1)?.id ?? checkpoint.after,
  };
  return { checkpoint: next, processed: next.users, more: users.length === batchUsers };
}

const exportedColumns = ({ rows, password_hashes: withHashes }: UserExportCreate): readonly string[] => [
  ...userExportColumns[rows],
  ...(withHashes ? ['password_hash'] : []),
];

function serializeRows(params: UserExportCreate, rows: readonly UserExportRow[]): Buffer {
  const columns = exportedColumns(params);
  if (params.format === 'csv')
    return Buffer.from(formatFormulaSafeCsv(rows.map((row) => columns.map((name) => toCsvCell(row[name] ?? null)))));
  const objects = rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
  return Buffer.from(objects.map((object) => `${JSON.stringify(object)}\n`).join(''));
}

const toCsvCell = (value: UserExportRow[string]): CsvCell => (typeof value === 'boolean' ? String(value) : value);
