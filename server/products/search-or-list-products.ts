import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { buildSpellingCorrectedTsquery } from './build-spelling-corrected-tsquery.sql.ts';
import { type ListedProduct, listProducts, type ProductFilters, type ProductSearch, type ProductSort } from './list-products.sql.ts';
import { productFromRow } from './product-and-stock-adjustment-from-row.ts';

/** A page of products and, for a text search, the search that found them. */
type FoundProducts = { readonly rows: readonly ListedProduct[]; readonly search?: ProductSearch };

/**
 * Returns a page of the products that contain the words of `text`. If no product matches, searches again with corrected spelling. Without
 * `text`, lists all products. Later pages use the same query as the first page, even if new products contain other words.
 */
export async function searchOrListProducts(
  em: EntityManager,
  text: string | undefined,
  filters: ProductFilters,
  sort: ProductSort,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<FoundProducts> {
  if (text === undefined) return { rows: await listProducts(em, filters, sort, position, limit) };
  const find = async (correctedQuery: string | undefined, after?: KeysetPosition): Promise<FoundProducts> => {
    const search = { text, correctedQuery };
    return { rows: await listProducts(em, { ...filters, search }, sort, after, limit), search };
  };
  if (position) return find(...parseSearchPosition(position));
  const exact = await find(undefined);
  if (exact.rows.length > 0) return exact;
  const correctedQuery = await buildSpellingCorrectedTsquery(em, text, filters.status);
  return correctedQuery === undefined ? exact : find(correctedQuery);
}

/** Returns a product's cursor position in its list. In a search, the position includes the corrected query. */
export function getProductCursorPosition(row: ListedProduct, { by }: ProductSort, search: ProductSearch | undefined): KeysetPosition {
  const value = by === 'relevance' ? (row.relevance ?? 0) : productFromRow(row)[by];
  return [search ? JSON.stringify([search.correctedQuery ?? null, value]) : value, row.id];
}

const searchPosition = z.tuple([z.string().nullable(), z.union([z.string(), z.number()])]);

function parseSearchPosition([value, id]: KeysetPosition): [correctedQuery: string | undefined, position: KeysetPosition] {
  const [correctedQuery, sorted] = searchPosition.parse(JSON.parse(String(value)));
  return [correctedQuery ?? undefined, [sorted, id]];
}
