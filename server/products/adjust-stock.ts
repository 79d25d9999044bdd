import { maxStock, type StockAdjustment, type StockAdjustmentCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { findProduct } from './find-product.ts';
import { stockAdjustmentColumnsSql, type StockAdjustmentRow, stockAdjustmentFromRow } from './product-rows.ts';

// Untracked stock starts at zero. The update adds the delta to the current value, so that no concurrent sale is lost.
const applyDelta = prepareStatement<StockAdjustmentRow>(
  'adjust_stock',
  `with begun as (
     insert into product_stock as s (product_id, available) select $1, $2::int where $2::int >= 0
     on conflict (product_id) do update set available = s.available + $2::int
      where s.available::bigint + $2::int >= 0 and s.available::bigint + $2::int <= ${maxStock}
     returning available),
   reduced as (
     update product_stock set available = available + $2::int
      where product_id = $1 and $2::int < 0 and available + $2::int >= 0
     returning available)
   insert into stock_adjustments (product_id, delta, stock_after, reason, note, actor)
   select $1, $2::int, available, $3, $4, $5 from (select available from begun union all select available from reduced) changed
   returning ${stockAdjustmentColumnsSql}`,
);
const readStock = prepareStatement<{ available: number | null }>(
  'read_stock',
  'select s.available from products p left join product_stock s on s.product_id = p.id where p.id = $1',
);

/** Changes a product's stock by `delta` and records the adjustment with its reason. */
export async function adjustStock(
  em: EntityManager,
  actor: string,
  productId: number,
  { delta, reason, note }: StockAdjustmentCreate,
): Promise<StockAdjustment> {
  const [stock] = await readStock(em, [productId]);
  if (!stock) throw createProblem('not_found', { detail: `Product ${productId} was not found.` });
  const [row] = await applyDelta(em, [productId, delta, reason, note ?? null, actor]);
  if (row) {
    await recordStockEvents(em, productId, row.stock_after - delta, row.stock_after);
    return stockAdjustmentFromRow(row);
  }
  throw createProblem('insufficient_stock', {
    detail: `${stock.available ?? 0} units are available; the adjustment would leave fewer than 0 or more than ${maxStock}.`,
    errors: [
      {
        in: 'body',
        pointer: '#/delta',
        code: 'out_of_range',
        detail: `${stock.available ?? 0} units are available.`,
        available: stock.available ?? 0,
      },
    ],
  });
}

/** Records `product.stock_changed` and, if the stock reaches or leaves zero, `product.out_of_stock` or `product.back_in_stock`. */
async function recordStockEvents(em: EntityManager, productId: number, before: number, after: number): Promise<void> {
  const product = await findProduct(em, productId, true);
  await recordEvent(em, 'product.stock_changed', product, null);
  if (after === 0 && before > 0) await recordEvent(em, 'product.out_of_stock', product, null);
  if (after > 0 && before === 0) await recordEvent(em, 'product.back_in_stock', product, null);
}
