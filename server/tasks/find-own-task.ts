import type { InferEntity } from '@mikro-orm/core';
import type { Task as TaskBody } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { buildVisibleTasksFilter } from './build-visible-tasks-filter.ts';
import { taskRetentionDays, type StoredTaskResult, taskFromEntity } from './task-from-entity.ts';
import { Task } from './task-and-task-file.entity.ts';

const dayMs = 86_400_000;

type TaskEntity = InferEntity<typeof Task>;

/** Returns whether the task is unfinished, or was finished less than `days` days ago. */
const isRetained = ({ finishedAt }: TaskEntity, days: number): boolean =>
  finishedAt == null || finishedAt.getTime() > Date.now() - days * dayMs;

async function readVisibleTask(em: EntityManager, principal: Principal, id: number): Promise<TaskEntity> {
  // The query checks the permission, so that it does not find tasks of other owners or tasks whose required scopes this token lacks.
  const task = await em.findOne(Task, { id, ...buildVisibleTasksFilter(principal) }, { disableIdentityMap: true });
  if (!task) throw createProblem('not_found', { detail: translatable`Task ${{ id }} was not found.` });
  if (!isRetained(task, taskRetentionDays.task))
    throw createProblem('gone', { detail: translatable`Tasks are kept for ${{ days: taskRetentionDays.task }} days after they finish.` });
  return task;
}

/** Returns one of the principal's tasks. */
export const findOwnTask = async (em: EntityManager, principal: Principal, id: number): Promise<TaskBody> =>
  taskFromEntity(await readVisibleTask(em, principal, id));

export type TaskResultFile = { readonly fileId: number; readonly task: TaskBody; readonly result: StoredTaskResult };

/** Returns a successful task's result file, as long as the file is retained. */
export async function findOwnTaskResultFileOrThrow(em: EntityManager, principal: Principal, id: number): Promise<TaskResultFile> {
  const task = await readVisibleTask(em, principal, id);
  if (task.status === 'queued' || task.status === 'running') {
    throw createProblem('task_not_finished', {
      detail: 'The result is available once the task has succeeded.',
      headers: { 'Retry-After': '2' },
    });
  }
  if (task.status !== 'succeeded')
    throw createProblem('not_found', { detail: translatable`The task has no result, because its status is ${{ status: task.status }}.` });
  if (task.result == null) throw createProblem('not_found', { detail: 'The task has no result file.' });
  if (!isRetained(task, taskRetentionDays.result) || task.output == null) {
    throw createProblem('gone', {
      detail: translatable`Results are kept for ${{ days: taskRetentionDays.result }} days. Start the task again to create a new result.`,
    });
  }
  return { fileId: task.output, task: taskFromEntity(task), result: task.result };
}
