import type { Task, TaskResult } from '@mandate/contract';
import { instant, instantOrNull } from '../database/instant.ts';
import type { Principal } from '../http/principal.ts';

/** How long a finished task is kept, and the file it wrote. */
export const keptDays = { task: 30, result: 7 } as const;

export type StoredResult = Omit<TaskResult, 'expires_at'>;

/** A task as a query gives it. */
export type TaskRow = Omit<Task, 'progress' | 'result'> & {
  readonly processed: number;
  readonly total: number | null;
  readonly result: StoredResult | null;
};

export const taskColumns =
  'id, type, status, params, processed, total, result, error, user_id, client_id, created_at, started_at, finished_at';

export const toTask = ({ processed, total, result, ...row }: TaskRow): Task => ({
  ...row,
  progress: { processed, total },
  result: result && row.finished_at !== null ? { ...result, expires_at: daysAfter(row.finished_at, keptDays.result) } : null,
  created_at: instant(row.created_at),
  started_at: instantOrNull(row.started_at),
  finished_at: instantOrNull(row.finished_at),
});

/** A person's tasks are theirs in every application; an application on its own account has its own. */
export const ownerOf = ({ user, clientId }: Principal): string => (user ? `user ${user.id}` : `client ${clientId}`);

const daysAfter = (moment: string, days: number): string => new Date(Date.parse(moment) + days * 86_400_000).toISOString();

/** Where a task is found. */
export const taskLocation = ({ id }: Pick<Task, 'id'>): string => `/api/v1/tasks/${id}`;
