import { type Scope, type Task as TaskBody, type TaskType, maxUnfinishedTasksPerOwner } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { acquireAdvisoryLockForKey } from '../database/queries/acquire-advisory-lock.sql.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { taskOwnerKeyFromPrincipal, taskFromEntity } from './task-from-entity.ts';
import { Task } from './task-and-task-file.entity.ts';

/**
 * Namespace of the locks that serialize concurrent requests from one owner, so that the owner cannot exceed the maximum number of tasks.
 */
const ownerLockNamespace = 20_261_120;

export type NewTask = {
  readonly type: TaskType;
  readonly params: { readonly [name: string]: TaskBody['params'][string] | undefined };
  /** Scopes that a token must have to see the task. The same scopes are required to start the task. */
  readonly needs: readonly Scope[];
  /** ID of the input file. */
  readonly inputId?: number;
};

/** Adds a task to the queue, in the request's transaction. */
export async function enqueueTask(em: EntityManager, principal: Principal, { type, params, needs, inputId }: NewTask): Promise<TaskBody> {
  const owner = taskOwnerKeyFromPrincipal(principal);
  await acquireAdvisoryLockForKey(em, owner, ownerLockNamespace);
  if ((await em.count(Task, { owner, status: { $in: ['queued', 'running'] } })) >= maxUnfinishedTasksPerOwner) {
    throw createProblem('too_many_tasks', {
      detail: translatable`${{ count: maxUnfinishedTasksPerOwner }} of your tasks are not finished. Wait until one of them finishes, or cancel one.`,
      headers: { 'Retry-After': '10' },
    });
  }
  const task = em.create(Task, {
    type,
    owner,
    user: principal.user?.id ?? null,
    clientId: principal.clientId,
    needs: [...needs],
    // Undefined properties are omitted, because JSON in the database cannot contain them.
    params: Object.fromEntries(Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    input: inputId ?? null,
  });
  await em.persist(task).flush();
  return taskFromEntity(task);
}
