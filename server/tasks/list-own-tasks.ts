import { type InferEntity, sql } from '@mikro-orm/core';
import { maxCountedTotal, type Task as TaskBody, type TaskType } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { countEntitiesUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { createKeysetPageFilter } from '../http/response/keyset-page-filter.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { buildVisibleTasksFilter } from './build-visible-tasks-filter.ts';
import { taskRetentionDays } from './task-from-entity.ts';
import { Task } from './task-and-task-file.entity.ts';

type TaskEntity = InferEntity<typeof Task>;
type TaskFilters = { readonly type?: readonly TaskType[] | undefined; readonly status?: readonly TaskBody['status'][] | undefined };

/** Returns the tasks that the principal may see, newest first; more than `limit` rows indicate a next page. */
export function listOwnTasks(
  em: EntityManager,
  principal: Principal,
  filters: TaskFilters,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<TaskEntity[]> {
  const where = { $and: [filterConditions(principal, filters), createKeysetPageFilter('createdAt', position, 'desc')] };
  const options = { orderBy: { createdAt: 'desc', id: 'desc' }, limit: limit + 1, disableIdentityMap: true } as const;
  return em.find(Task, where, options);
}

/** Counts the principal's tasks, up to `maxCountedTotal + 1`. */
export const countOwnTasks = (em: EntityManager, principal: Principal, filters: TaskFilters): Promise<number> =>
  countEntitiesUpToMaxPlusOne(em, em.createQueryBuilder(Task).select('id').where(filterConditions(principal, filters)), maxCountedTotal);

const filterConditions = (principal: Principal, { type, status }: TaskFilters) => ({
  ...buildVisibleTasksFilter(principal),
  $or: [{ finishedAt: null }, { finishedAt: { $gt: sql`now() - make_interval(days => ${taskRetentionDays.task})` } }],
  ...(type !== undefined && { type: { $in: [...type] } }),
  ...(status !== undefined && { status: { $in: [...status] } }),
});
