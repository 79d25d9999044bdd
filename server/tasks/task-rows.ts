import type { ImportCounts, Task, TaskResult, TaskType } from '@mandate/contract';
import { instant, instantOrNull } from '../database/time/timestamp-format.ts';
import type { Principal } from '../http/request/principal.ts';

/** How long a finished task is kept, and the file it wrote. */
export const keptDays = { task: 30, result: 7 } as const;

export type StoredResult = Omit<TaskResult, 'expires_at'>;

/** Counts of an import that has not begun. */
export const nothingImported: ImportCounts = { created: 0, updated: 0, unchanged: 0, refused: 0, differing: 0 };
const importTypes: ReadonlySet<TaskType> = new Set(['order_import', 'product_import']);

/** A task as a query gives it. */
export type TaskRow = Omit<Task, 'progress' | 'result'> & {
  readonly processed: number;
  readonly total: number | null;
  readonly result: StoredResult | null;
};

export const taskColumns =
  'id, type, status, params, processed, total, result, error, imported, user_id, client_id, created_at, started_at, finished_at';

export const toTask = ({ processed, total, result, ...row }: TaskRow): Task => ({
  ...row,
  progress: { processed, total },
  imported: countsOf(row.type, row.imported ?? result?.imported ?? null),
  result:
    result && row.finished_at !== null
      ? { ...result, imported: countsOf(row.type, result.imported), expires_at: daysAfter(row.finished_at, keptDays.result) }
      : null,
  created_at: instant(row.created_at),
  started_at: instantOrNull(row.started_at),
  finished_at: instantOrNull(row.finished_at),
});

/** Counts that were stored before lack `differing`. */
const countsOf = (type: Task['type'], stored: Partial<ImportCounts> | null): ImportCounts | null =>
  importTypes.has(type) ? { ...nothingImported, ...stored } : null;

/** A person's tasks are theirs in every application; an application on its own account has its own. */
export const ownerOf = ({ user, clientId }: Principal): string => (user ? `user ${user.id}` : `client ${clientId}`);

const daysAfter = (moment: string, days: number): string => new Date(Date.parse(moment) + days * 86_400_000).toISOString();

/** Where a task is found. */
export const taskLocation = ({ id }: Pick<Task, 'id'>): string => `/api/v1/tasks/${id}`;
