import { type RawBuilder, sql } from 'kysely';
import { totalCountMax, type User } from '@mandate/contract';
import { rowsFor, rowsOf } from '../database/queries/dynamic-query.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import type { Position } from '../http/response/pagination.ts';
import { userColumns } from './user-body.ts';

export type UserFilters = {
  readonly email?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly role?: readonly string[] | undefined;
  readonly createdAtGte?: string | undefined;
  readonly createdAtLt?: string | undefined;
};

/** Returns the matching users; more than `limit` rows mean that there is a next page. */
export async function listUsers(
  em: Em,
  filters: UserFilters,
  descending: boolean,
  position: Position | undefined,
  limit: number,
): Promise<readonly User[]> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const conditions = filterConditions(filters);
  if (position)
    conditions.push(sql`(created_at, id) ${sql.raw(descending ? '<' : '>')} (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const query = sql<User>`select ${sql.raw(userColumns)} from users where ${sql.join(conditions, sql` and `)}
    order by created_at ${direction}, id ${direction} limit ${rowsFor(limit)}`;
  return rowsOf(em, query);
}

/** Counts the matching users, up to `totalCountMax + 1`. */
export async function countUsers(em: Em, filters: UserFilters): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count from (select 1 from users where ${sql.join(filterConditions(filters), sql` and `)} limit ${sql.lit(totalCountMax + 1)}) counted`;
  return (await rowsOf(em, query))[0]?.count ?? 0;
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
