import { type RawBuilder, sql } from 'kysely';
import { totalCountMax } from '@mandate/contract';
import { rowsFor, rowsOf } from '../database/queries/dynamic-query.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import type { Position } from '../http/response/pagination.ts';
import type { Principal } from '../http/request/principal.ts';
import { allowedScopes } from '../http/middleware/authorize.ts';
import { keptDays, ownerOf, taskColumns, type TaskRow } from './task-rows.ts';

type TaskFilters = { readonly type?: readonly string[] | undefined; readonly status?: readonly string[] | undefined };

/** Returns the tasks of the principal, newest first; more than `limit` rows mean that there is a next page. */
export async function listTasks(
  em: Em,
  principal: Principal,
  filters: TaskFilters,
  position: Position | undefined,
  limit: number,
): Promise<readonly TaskRow[]> {
  const conditions = filterConditions(principal, filters);
  if (position) conditions.push(sql`(created_at, id) < (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const query = sql<TaskRow>`
    select ${sql.raw(taskColumns)} from tasks where ${sql.join(conditions, sql` and `)} order by created_at desc, id desc limit ${rowsFor(limit)}`;
  return rowsOf(em, query);
}

/** Counts the tasks of the principal, up to `totalCountMax + 1`. */
export async function countTasks(em: Em, principal: Principal, filters: TaskFilters): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count from (
      select 1 from tasks where ${sql.join(filterConditions(principal, filters), sql` and `)} limit ${sql.lit(totalCountMax + 1)}) counted`;
  return (await rowsOf(em, query))[0]?.count ?? 0;
}

function filterConditions(principal: Principal, { type, status }: TaskFilters): RawBuilder<unknown>[] {
  const conditions = [
    sql`owner = ${ownerOf(principal)}`,
    sql`needs <@ ${allowedScopes(principal)}::text[]`,
    sql`(finished_at is null or finished_at > now() - ${`${keptDays.task} days`}::interval)`,
  ];
  if (type !== undefined) conditions.push(sql`type = any(${type}::text[])`);
  if (status !== undefined) conditions.push(sql`status = any(${status}::text[])`);
  return conditions;
}
