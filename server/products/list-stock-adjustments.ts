import { maxTotalCount } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { stockAdjustmentColumnsSql, type StockAdjustmentRow } from './product-rows.ts';

const selectAdjustments = prepareStatement<StockAdjustmentRow>(
  'list_stock_adjustments',
  `select ${stockAdjustmentColumnsSql} from stock_adjustments
    where product_id = $1 and (created_at, id) < ($2::timestamptz, $3::bigint) order by created_at desc, id desc limit $4`,
);
const countAdjustments = prepareStatement<{ count: number }>(
  'count_stock_adjustments',
  `select count(*) as count from (select 1 from stock_adjustments where product_id = $1 limit ${maxTotalCount + 1}) counted`,
);

/** Returns a product's stock adjustments, newest first; `limit + 1` rows mean that there is a next page. */
export const listStockAdjustments = (
  em: EntityManager,
  productId: number,
  position: KeysetPosition | undefined,
  limit: number,
): Promise<StockAdjustmentRow[]> =>
  selectAdjustments(em, [productId, position?.[0] ?? 'infinity', position?.[1] ?? Number.MAX_SAFE_INTEGER, limit + 1]);

/** Counts a product's stock adjustments, up to `totalCountMax + 1`. */
export const countStockAdjustments = async (em: EntityManager, productId: number): Promise<number> =>
  (await countAdjustments(em, [productId]))[0]?.count ?? 0;
