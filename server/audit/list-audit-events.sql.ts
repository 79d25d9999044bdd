import type { AuditEvent } from '@mandate/contract';
import { type RawBuilder, sql } from 'kysely';
import { roundedLimitSql, runDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';

export type AuditFilters = {
  readonly userId?: number | undefined;
  readonly action?: readonly string[] | undefined;
  readonly outcome?: string | undefined;
  readonly occurredAtGte?: string | undefined;
  readonly occurredAtLt?: string | undefined;
};

// Written in SQL, because a row comparison for the keyset uses the index, whereas MikroORM's OR conditions do not.
/** Returns the matching audit events, newest first; more than `limit` rows mean that there is a next page. */
export async function listAuditEvents(
  em: EntityManager,
  filters: AuditFilters,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<readonly AuditEvent[]> {
  const conditions = [...filterConditions(filters)];
  if (position) conditions.push(sql`(occurred_at, id) < (${position[0]}::timestamptz, ${position[1]}::bigint)`);
  const query = sql<AuditEvent>`
    select id, occurred_at, action, outcome, actor_id, user_id, client_id, subject, ip, user_agent, details from audit_events
     where ${sql.join(conditions, sql` and `)} order by occurred_at desc, id desc limit ${roundedLimitSql(limit)}`;
  return runDynamicQuery(em, query);
}

function* filterConditions({ userId, action, outcome, occurredAtGte, occurredAtLt }: AuditFilters): Generator<RawBuilder<unknown>> {
  yield sql`true`;
  if (userId !== undefined) yield sql`user_id = ${userId}`;
  if (action !== undefined) yield sql`action = any(${action}::text[])`;
  if (outcome !== undefined) yield sql`outcome = ${outcome}`;
  if (occurredAtGte !== undefined) yield sql`occurred_at >= ${occurredAtGte}::timestamptz`;
  if (occurredAtLt !== undefined) yield sql`occurred_at < ${occurredAtLt}::timestamptz`;
}
