import { type RawBuilder, sql } from 'kysely';
import { maxTotalCount } from '@mandate/contract';
import { roundedLimitSql, runDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import type { Principal } from '../http/request/principal.ts';
import { allowedScopes } from '../http/middleware/authorize.ts';
import { taskRetentionDays, taskOwnerKey, taskColumnsSql, type TaskRow } from './task-rows.ts';

type TaskFilters = { readonly type?: readonly string[] | undefined; readonly status?: readonly string[] | undefined };

// SQL, because a keyset row comparison uses the index, whereas MikroORM's OR conditions do not.
/** Returns the principal's tasks, newest first; more than `limit` rows mean that there is a next page. */
export async function listTasks(
  em: EntityManager,
  principal: Principal,
  filters: TaskFilters,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<readonly TaskRow[]> {
  const conditions = filterConditions(principal, filters);
  if (position) conditions.push(sql`(created_at, id) < (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const query = sql<TaskRow>`
    select ${sql.raw(taskColumnsSql)} from tasks where ${sql.join(conditions, sql` and `)} order by created_at desc, id desc limit ${roundedLimitSql(limit)}`;
  return runDynamicQuery(em, query);
}

/** Counts the principal's tasks, up to `totalCountMax + 1`. */
export async function countTasks(em: EntityManager, principal: Principal, filters: TaskFilters): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count from (
      select 1 from tasks where ${sql.join(filterConditions(principal, filters), sql` and `)} limit ${sql.lit(maxTotalCount + 1)}) counted`;
  return (await runDynamicQuery(em, query))[0]?.count ?? 0;
}

function filterConditions(principal: Principal, { type, status }: TaskFilters): RawBuilder<unknown>[] {
  const conditions = [
    sql`owner = ${taskOwnerKey(principal)}`,
    sql`needs <@ ${allowedScopes(principal)}::text[]`,
    sql`(finished_at is null or finished_at > now() - ${`${taskRetentionDays.task} days`}::interval)`,
  ];
  if (type !== undefined) conditions.push(sql`type = any(${type}::text[])`);
  if (status !== undefined) conditions.push(sql`status = any(${status}::text[])`);
  return conditions;
}
