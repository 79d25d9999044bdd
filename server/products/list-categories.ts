import { type RawBuilder, sql } from 'kysely';
import { type ProductCategory, totalCountMax } from '@mandate/contract';
import { rowsFor, rowsOf } from '../database/queries/dynamic-query.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';

/** Categories that have products of these statuses, more than `limit` where there are more. @param after the last category of the previous page */
export async function listCategories(
  em: Em,
  statuses: readonly string[],
  after: string | undefined,
  limit: number,
): Promise<readonly ProductCategory[]> {
  const next = after === undefined ? sql`` : sql` and category > ${after}`;
  return rowsOf(
    em,
    sql<ProductCategory>`
      select category, count(*) as product_count from products where ${inStatuses(statuses)}${next}
       group by category order by category limit ${rowsFor(limit)}`,
  );
}

/** Number of these categories, up to where counting stops. */
export async function countCategories(em: Em, statuses: readonly string[]): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count
      from (select distinct category from products where ${inStatuses(statuses)} limit ${sql.lit(totalCountMax + 1)}) counted`;
  const rows = await rowsOf(em, query);
  return rows[0]?.count ?? 0;
}

/** Statuses come from the contract's enumeration; as literals they let PostgreSQL use the index on active products. */
const inStatuses = (statuses: readonly string[]): RawBuilder<unknown> =>
  statuses.length === 1 ? sql`status = ${sql.lit(statuses[0])}` : sql`status in (${sql.join(statuses.map((status) => sql.lit(status)))})`;
