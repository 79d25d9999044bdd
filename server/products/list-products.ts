import { type RawBuilder, sql } from 'kysely';
import { totalCountMax } from '@mandate/contract';
import { rowsFor, rowsOf } from '../database/queries/dynamic-query.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import type { Position } from '../http/response/pagination.ts';
import { productColumns, type ProductRow, productTables } from './product-rows.ts';

export type ProductFilters = {
  readonly status: readonly string[];
  readonly search?: ProductSearch | undefined;
  readonly category?: string | undefined;
  readonly sku?: string | undefined;
  readonly priceGte?: number | undefined;
  readonly priceLte?: number | undefined;
};

/** Text that products are searched for. If its words were misspelled, `correctedQuery` is searched for instead, in the syntax of `to_tsquery`. */
export type ProductSearch = { readonly text: string; readonly correctedQuery?: string | undefined };

/** A product with its position in the order of `relevance`, in a search. */
export type ListedProduct = ProductRow & { readonly relevance?: number };

/** What a list can be sorted by, and how the sorted value compares. */
type SortColumn = 'created_at' | 'price' | 'name' | 'relevance';
const comparedAs: Record<SortColumn, string> = { created_at: 'timestamptz', price: 'bigint', name: 'text', relevance: 'bigint' };
export type ProductSort = { readonly by: SortColumn; readonly descending: boolean };

/** `-price` is by price, descending. */
export function sortOf(sort: Exclude<SortColumn, 'relevance'> | `-${Exclude<SortColumn, 'relevance'>}` | 'relevance'): ProductSort {
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

/** Products, more than `limit` where there are more. */
export async function listProducts(
  em: Em,
  filters: ProductFilters,
  { by, descending }: ProductSort,
  position: Position | undefined,
  limit: number,
): Promise<readonly ListedProduct[]> {
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const column = sql.ref(by === 'relevance' ? 'found.relevance' : `p.${by}`);
  const conditions = conditionsOf(filters);
  if (position) {
    conditions.push(
      sql`(${column}, p.id) ${sql.raw(descending ? '<' : '>')} (${position[0]}::${sql.raw(comparedAs[by])}, ${position[1]}::bigint)`,
    );
  }
  const columns = sql.raw(by === 'relevance' ? `${productColumns}, found.relevance` : productColumns);
  const query = sql<ListedProduct>`
    select ${columns} from ${sql.raw(productTables)}${foundBy(filters)} where ${sql.join(conditions, sql` and `)}
     order by ${column} ${direction}, p.id ${direction} limit ${rowsFor(limit)}`;
  return rowsOf(em, query, filters.search ? 'any' : 'even');
}

/** How many products match, up to where counting stops. */
export async function countProducts(em: Em, filters: ProductFilters): Promise<number> {
  const query = sql<{ count: number }>`
    select count(*) as count
      from (select 1 from products p${foundBy(filters)} where ${sql.join(conditionsOf(filters), sql` and `)} limit ${sql.lit(totalCountMax + 1)}) counted`;
  const rows = await rowsOf(em, query);
  return rows[0]?.count ?? 0;
}

function foundBy({ search }: ProductFilters): RawBuilder<unknown> {
  if (!search) return sql``;
  const { text, correctedQuery } = search;
  const query = correctedQuery === undefined ? sql`product_search_query(${text})` : sql`to_tsquery('simple', ${correctedQuery})`;
  return sql` join products_matching(${query}) found on found.product_id = p.id`;
}

function conditionsOf({ status, category, sku, priceGte, priceLte }: ProductFilters): RawBuilder<unknown>[] {
  // One status is written as an equation, so that it is a prefix of the index.
  const conditions = [status.length === 1 ? sql`p.status = ${status[0]}` : sql`p.status = any(${status}::text[])`];
  if (category !== undefined) conditions.push(sql`p.category = ${category}`);
  if (sku !== undefined) conditions.push(sql`p.sku = ${sku}`);
  if (priceGte !== undefined) conditions.push(sql`p.price >= ${priceGte}`);
  if (priceLte !== undefined) conditions.push(sql`p.price <= ${priceLte}`);
  return conditions;
}
