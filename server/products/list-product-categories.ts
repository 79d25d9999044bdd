import { raw } from '@mikro-orm/core';
import { type ProductCategory, maxCountedTotal } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { countEntitiesUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { Product } from './product-stock-and-adjustment.entity.ts';

/**
 * Returns the categories of products with these statuses; more than `limit` rows indicate a next page.
 * @param after the last category of the previous page
 */
export const listProductCategories = (
  em: EntityManager,
  statuses: readonly Product['status'][],
  after: string | undefined,
  limit: number,
): Promise<ProductCategory[]> =>
  em
    .createQueryBuilder(Product)
    .select(['category', raw('count(*)::int as product_count')])
    .where({ ...hasStatusIn(statuses), ...(after !== undefined && { category: { $gt: after } }) })
    .groupBy('category')
    .orderBy({ category: 'asc' })
    .limit(limit + 1)
    .execute<ProductCategory[]>('all', false);

/**
 * Returns the categories of the products for sale, sorted by name. If there are more than `maximum` categories, returns only the first
 * ones.
 */
export async function listCategoriesForSale(em: EntityManager, maximum: number): Promise<string[]> {
  const rows = await listProductCategories(em, ['active'], undefined, maximum);
  return rows.slice(0, maximum).map(({ category }) => category);
}

/** Counts the categories of products with these statuses, up to `maxCountedTotal + 1`. */
export const countProductCategories = (em: EntityManager, statuses: readonly Product['status'][]): Promise<number> =>
  countEntitiesUpToMaxPlusOne(em, em.createQueryBuilder(Product).select('category', true).where(hasStatusIn(statuses)), maxCountedTotal);

/** PostgreSQL can use the partial indexes on active products if `active` is the only status. */
const hasStatusIn = (statuses: readonly Product['status'][]) => ({ status: { $in: [...statuses] } });
