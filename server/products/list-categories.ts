import { type RawBuilder, sql } from 'kysely';
import { type ProductCategory, maxTotalCount } from '@mandate/contract';
import { roundedLimitSql, runDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';

/**
 * Returns the categories of products with these statuses; more than `limit` rows mean that there is a next page.
 * @param after the last category of the previous page
 */
export async function listCategories(
  em: EntityManager,
  statuses: readonly string[],
  after: string | undefined,
  limit: number,
): Promise<readonly ProductCategory[]> {
  const next = after === undefined ? sql`` : sql` and category > ${after}`;
  return runDynamicQuery(
    em,
    sql<ProductCategory>`
      select category, count(*) as product_count from products where ${hasStatusIn(statuses)}${next}
       group by category order by category limit ${roundedLimitSql(limit)}`,
  );
}

/** Counts the categories of products with these statuses, up to `totalCountMax + 1`. */
export async function countCategories(em: EntityManager, statuses: readonly string[]): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count
      from (select distinct category from products where ${hasStatusIn(statuses)} limit ${sql.lit(maxTotalCount + 1)}) counted`;
  const rows = await runDynamicQuery(em, query);
  return rows[0]?.count ?? 0;
}

/**
 * Embeds the statuses as literals, so that PostgreSQL can use the partial indexes on active products. The statuses come from a contract
 * enumeration.
 */
const hasStatusIn = (statuses: readonly string[]): RawBuilder<unknown> =>
  statuses.length === 1 ? sql`status = ${sql.lit(statuses[0])}` : sql`status in (${sql.join(statuses.map((status) => sql.lit(status)))})`;
