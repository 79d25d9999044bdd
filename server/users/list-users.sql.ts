import { type RawBuilder, sql } from 'kysely';
import { maxTotalCount, type User } from '@mandate/contract';
import { roundedLimitSql, runDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { userColumnsSql } from './user-response.ts';

export type UserFilters = {
  readonly email?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly role?: readonly string[] | undefined;
  readonly createdAtGte?: string | undefined;
  readonly createdAtLt?: string | undefined;
};

// Written in SQL, because a row comparison for the keyset uses the index, whereas MikroORM's OR conditions do not.
/** Returns the matching users; more than `limit` rows mean that there is a next page. */
export async function listUsers(
  em: EntityManager,
  filters: UserFilters,
  descending: boolean,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<readonly User[]> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const conditions = filterConditions(filters);
  if (position)
    conditions.push(sql`(created_at, id) ${sql.raw(descending ? '<' : '>')} (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const query = sql<User>`select ${sql.raw(userColumnsSql)} from users where ${sql.join(conditions, sql` and `)}
    order by created_at ${direction}, id ${direction} limit ${roundedLimitSql(limit)}`;
  return runDynamicQuery(em, query);
}

/** Counts the matching users, up to `totalCountMax + 1`. */
export async function countUsers(em: EntityManager, filters: UserFilters): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count from (select 1 from users where ${sql.join(filterConditions(filters), sql` and `)} limit ${sql.lit(maxTotalCount + 1)}) counted`;
  return (await runDynamicQuery(em, query))[0]?.count ?? 0;
}

function filterConditions({ email, status, role, createdAtGte, createdAtLt }: UserFilters): RawBuilder<unknown>[] {
  const conditions = [sql`true`];
  // Closed accounts are excluded, which matches the partial unique index on the address.
  if (email !== undefined) conditions.push(sql`lower(email) = lower(${email}) and status <> 'closed'`);
  if (status !== undefined) conditions.push(sql`status = any(${status}::text[])`);
  if (role !== undefined) conditions.push(sql`role = any(${role}::text[])`);
  if (createdAtGte !== undefined) conditions.push(sql`created_at >= ${createdAtGte}::timestamptz`);
  if (createdAtLt !== undefined) conditions.push(sql`created_at < ${createdAtLt}::timestamptz`);
  return conditions;
}
