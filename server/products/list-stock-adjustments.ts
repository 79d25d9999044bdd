import type { InferEntity } from '@mikro-orm/core';
import { maxCountedTotal } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { countEntitiesUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { createKeysetPageFilter } from '../http/response/keyset-page-filter.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { StockAdjustment } from './product-stock-and-adjustment.entity.ts';

/** Returns a product's stock adjustments, newest first; `limit + 1` rows indicate a next page. */
export function listStockAdjustments(
  em: EntityManager,
  product: number,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<InferEntity<typeof StockAdjustment>[]> {
  const where = { product, ...createKeysetPageFilter('createdAt', position, 'desc') };
  const options = { orderBy: { createdAt: 'desc', id: 'desc' }, limit: limit + 1, disableIdentityMap: true } as const;
  return em.find(StockAdjustment, where, options);
}

/** Counts a product's stock adjustments, up to `maxCountedTotal + 1`. */
export const countStockAdjustments = (em: EntityManager, product: number): Promise<number> =>
  countEntitiesUpToMaxPlusOne(em, em.createQueryBuilder(StockAdjustment).select('id').where({ product }), maxCountedTotal);
