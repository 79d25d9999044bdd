import { type RawBuilder, sql } from 'kysely';
import type { EntityManager } from '../entity-manager/entity-manager-type.ts';
import { runPreparedDynamicQuery } from './dynamic-query.ts';

/** A query-builder query without a limit. */
type EntityQuery = {
  readonly limit: (limit: number) => { readonly getQuery: () => string; readonly getParams: () => readonly unknown[] };
};

// Written in SQL because MikroORM's `count` does not support a limit.
/** Counts the rows that a query-builder query selects, up to `max + 1`. The result `max + 1` means that there are more than `max` rows. */
export async function countEntitiesUpToMaxPlusOne(em: EntityManager, query: EntityQuery, max: number): Promise<number> {
  const limited = query.limit(max + 1);
  const rows = await em.execute<{ count: number }[]>(`select count(*) as count from (${limited.getQuery()}) counted`, [
    ...limited.getParams(),
  ]);
  return rows[0]?.count ?? 0;
}

// Written in SQL because MikroORM's `count` does not support a limit.
/**
 * Counts the rows that an SQL select statement returns, up to `max + 1`. The result `max + 1` means that there are more than `max` rows.
 */
export async function countRowsUpToMaxPlusOne(em: EntityManager, select: RawBuilder<unknown>, max: number): Promise<number> {
  const query = sql<{ count: number }>`select count(*) as count from (${select} limit ${sql.lit(max + 1)}) counted`;
  return (await runPreparedDynamicQuery(em, query))[0]?.count ?? 0;
}
