import { type RawBuilder, sql } from 'kysely';
import { maxCountedTotal } from '@mandate/contract';
import { countRowsUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { roundUpLimitAndAddOneSql, runPreparedDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { productColumnsSql, type ProductRow, productsJoinStockSql } from './product-and-stock-adjustment-from-row.ts';

export type ProductFilters = {
  readonly status: readonly string[];
  readonly id?: number | undefined;
  readonly search?: ProductSearch | undefined;
  readonly category?: string | undefined;
  readonly sku?: string | undefined;
  readonly priceGte?: number | undefined;
  readonly priceLte?: number | undefined;
};

/** A text search. If `correctedQuery` (in `to_tsquery` syntax) is set, it replaces the text, which contained misspelled words. */
export type ProductSearch = { readonly text: string; readonly correctedQuery?: string | undefined };

/** A product in a list; search results include its relevance. */
export type ListedProduct = ProductRow & { readonly relevance?: number };

/** Sort columns of the list, and the PostgreSQL types of their cursor values. */
type SortColumn = 'created_at' | 'price' | 'name' | 'relevance';
const sortColumnTypes: Record<SortColumn, string> = { created_at: 'timestamptz', price: 'bigint', name: 'text', relevance: 'bigint' };
export type ProductSort = { readonly by: SortColumn; readonly descending: boolean };

/** Parses a `sort` parameter; `-price` sorts by price, descending. */
export function parseProductSort(
  sort: Exclude<SortColumn, 'relevance'> | `-${Exclude<SortColumn, 'relevance'>}` | 'relevance',
): ProductSort {
  switch (sort) {
    case 'relevance':
      return { by: 'relevance', descending: true };
    case '-created_at':
      return { by: 'created_at', descending: true };
    case '-price':
      return { by: 'price', descending: true };
    case '-name':
      return { by: 'name', descending: true };
    default:
      return { by: sort, descending: false };
  }
}

// Written in SQL because the plan is cached, and identical concurrent queries share one result (see the `list-products` benchmark).
/** Returns the matching products; more than `limit` rows indicate a next page. */
export async function listProducts(
  em: EntityManager,
  filters: ProductFilters,
  { by, descending }: ProductSort,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<readonly ListedProduct[]> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const column = sql.ref(by === 'relevance' ? 'found.relevance' : `p.${by}`);
  const conditions = filterConditions(filters);
  if (position) {
    conditions.push(
      sql`(${column}, p.id) ${sql.raw(descending ? '<' : '>')} (${position[0]}::${sql.raw(sortColumnTypes[by])}, ${position[1]}::bigint)`,
    );
  }
  const columns = sql.raw(by === 'relevance' ? `${productColumnsSql}, found.relevance` : productColumnsSql);
  const query = sql<ListedProduct>`
    select ${columns} from ${sql.raw(productsJoinStockSql)}${searchJoin(filters)} where ${sql.join(conditions, sql` and `)}
     order by ${column} ${direction}, p.id ${direction} limit ${roundUpLimitAndAddOneSql(limit)}`;
  return runPreparedDynamicQuery(em, query, filters.search ? 'any' : 'even');
}

/** Counts the matching products, up to `maxCountedTotal + 1`. */
export const countProducts = (em: EntityManager, filters: ProductFilters): Promise<number> =>
  countRowsUpToMaxPlusOne(
    em,
    sql`select 1 from products p${searchJoin(filters)} where ${sql.join(filterConditions(filters), sql` and `)}`,
    maxCountedTotal,
  );

function searchJoin({ search }: ProductFilters): RawBuilder<unknown> {
  if (!search) return sql``;
  const { text, correctedQuery } = search;
  const query = correctedQuery === undefined ? sql`product_search_query(${text})` : sql`to_tsquery('simple', ${correctedQuery})`;
  return sql` join products_matching(${query}) found on found.product_id = p.id`;
}

function filterConditions({ status, id, category, sku, priceGte, priceLte }: ProductFilters): RawBuilder<unknown>[] {
  // A single status is compared with `=`, so that PostgreSQL can use the status as an index prefix.
  const conditions = [status.length === 1 ? sql`p.status = ${status[0]}` : sql`p.status = any(${status}::text[])`];
  if (id !== undefined) conditions.push(sql`p.id = ${id}`);
  if (category !== undefined) conditions.push(sql`p.category = ${category}`);
  if (sku !== undefined) conditions.push(sql`p.sku = ${sku}`);
  if (priceGte !== undefined) conditions.push(sql`p.price >= ${priceGte}`);
  if (priceLte !== undefined) conditions.push(sql`p.price <= ${priceLte}`);
  return conditions;
}
