import type { InferEntity } from '@mikro-orm/core';
import type { ImportCounts, Task, TaskResult, TaskType } from '@mandate/contract';
import { timestampToRfc3339, timestampToRfc3339OrNull } from '../database/time/timestamp-to-rfc3339.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import type { Task as TaskEntity } from './task-and-task-file.entity.ts';

/** Retention periods of finished tasks and of their result files, in days. */
export const taskRetentionDays = { task: 30, result: 7 } as const;

export type StoredTaskResult = Omit<TaskResult, 'expires_at'>;

/** Counts for an import that has not started. */
export const initialImportCounts: ImportCounts = { created: 0, updated: 0, unchanged: 0, refused: 0, differing: 0 };
const importTypes: ReadonlySet<TaskType> = new Set(['order_import', 'product_import', 'user_import']);

/** A task's columns. */
type TaskRow = Omit<Task, 'progress' | 'result'> & {
  readonly processed: number;
  readonly total: number | null;
  readonly result: StoredTaskResult | null;
};

const taskFromRow = ({ processed, total, result, ...row }: TaskRow): Task => ({
  ...row,
  progress: { processed, total },
  imported: completeCounts(row.type, row.imported ?? result?.imported ?? null),
  result:
    result && row.finished_at !== null
      ? { ...result, imported: completeCounts(row.type, result.imported), expires_at: daysAfter(row.finished_at, taskRetentionDays.result) }
      : null,
  created_at: timestampToRfc3339(row.created_at),
  started_at: timestampToRfc3339OrNull(row.started_at),
  finished_at: timestampToRfc3339OrNull(row.finished_at),
});

/** Returns a task entity's API representation. */
export const taskFromEntity = (task: InferEntity<typeof TaskEntity>): Task =>
  taskFromRow({
    id: task.id,
    type: task.type,
    status: task.status,
    params: task.params,
    processed: task.processed,
    total: task.total ?? null,
    result: task.result ?? null,
    error: task.error ?? null,
    imported: task.imported ?? null,
    user_id: task.user ?? null,
    client_id: task.clientId,
    created_at: task.createdAt.toISOString(),
    started_at: task.startedAt?.toISOString() ?? null,
    finished_at: task.finishedAt?.toISOString() ?? null,
  });

/** Returns the counts of an import. Missing counts are set to zero, because earlier versions did not store `differing`. */
const completeCounts = (type: Task['type'], stored: Partial<ImportCounts> | null): ImportCounts | null =>
  importTypes.has(type) ? { ...initialImportCounts, ...stored } : null;

/** Returns the key of the task owner, which is the user (regardless of the client) or a client that acts on its own behalf. */
export const taskOwnerKeyFromPrincipal = ({ user, clientId }: Principal): string => (user ? `user ${user.id}` : `client ${clientId}`);

const daysAfter = (timestamp: string, days: number): string => new Date(Date.parse(timestamp) + days * 86_400_000).toISOString();

/** Returns a task's path. */
export const getTaskPath = ({ id }: Pick<Task, 'id'>): string => `/api/v1/tasks/${id}`;
