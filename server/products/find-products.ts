import type { Em } from '../database/orm.ts';
import type { Position } from '../http/pages.ts';
import { type ListedProduct, listProducts, type ProductFilters, type ProductSearch, type ProductSort } from './list-products.ts';
import { toProduct } from './product-rows.ts';

/** A page of products, and how they were found when a text was searched for. */
type FoundProducts = { readonly rows: readonly ListedProduct[]; readonly search?: ProductSearch };

/**
 * Products that contain the words of `text` or, if there are none, words of similar spelling; without `text`, all products. Later pages
 * compare words as the first page did, even if a product with the exact words has been created meanwhile.
 */
export async function findProducts(
  em: Em,
  text: string | undefined,
  filters: ProductFilters,
  sort: ProductSort,
  position: Position | undefined,
  limit: number,
): Promise<FoundProducts> {
  if (text === undefined) return { rows: await listProducts(em, filters, sort, position, limit) };
  const find = async (match: ProductSearch['match'], after?: Position): Promise<FoundProducts> => {
    const search = { text, match };
    return { rows: await listProducts(em, { ...filters, search }, sort, after, limit), search };
  };
  if (position) return find(...parseSearchPosition(position));
  const exact = await find('exact');
  return exact.rows.length > 0 ? exact : find('similar');
}

/** The position of a product in its list, for the cursor. In a search it also says how words are compared. */
export function productPosition(row: ListedProduct, { by }: ProductSort, search: ProductSearch | undefined): Position {
  const value = by === 'relevance' ? (row.relevance ?? 0) : toProduct(row)[by];
  return [search ? `${search.match} ${value}` : value, row.id];
}

function parseSearchPosition([value, id]: Position): [match: ProductSearch['match'], position: Position] {
  const [, match = '', sorted = ''] = /^(\w+) (.*)$/su.exec(String(value)) ?? [];
  return [match === 'exact' ? 'exact' : 'similar', [sorted, id]];
}
