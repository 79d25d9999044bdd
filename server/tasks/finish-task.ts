import { sql } from '@mikro-orm/core';
import type { Task as TaskBody } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { type StoredTaskResult, taskFromEntity } from './task-from-entity.ts';
import { Task } from './task-and-task-file.entity.ts';

type TaskEnd =
  | { readonly status: 'succeeded'; readonly result?: StoredTaskResult; readonly fileId?: number }
  | { readonly status: 'failed'; readonly error: NonNullable<TaskBody['error']> }
  | { readonly status: 'canceled' };

/**
 * Sets the final status of a task and records the event, in one transaction. Returns `undefined` if the task has already ended or another
 * process holds the lease.
 */
export async function finishTask(em: EntityManager, id: number, lease: number | null, end: TaskEnd): Promise<TaskBody | undefined> {
  // Canceling a task requires no lease. Any other final status can be set only by the holder of the current lease.
  const unfinished = { id, status: { $in: ['queued', 'running'] as const }, ...(lease !== null && { attempts: lease }) };
  const updated = await em.nativeUpdate(Task, unfinished, {
    status: end.status,
    finishedAt: sql.now(),
    result: end.status === 'succeeded' ? (end.result ?? null) : null,
    error: end.status === 'failed' ? end.error : null,
    output: end.status === 'succeeded' ? (end.fileId ?? null) : null,
    checkpoint: null,
  });
  if (updated === 0) return undefined;
  const task = taskFromEntity(await em.findOneOrFail(Task, { id }, { refresh: true }));
  await recordEvent(em, `task.${end.status}`, task, task.user_id);
  return task;
}
