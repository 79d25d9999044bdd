import { maxStock } from '@mandate/contract';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { stockAdjustmentColumnsSql, type StockAdjustmentRow } from './product-and-stock-adjustment-from-row.ts';

// Written in SQL because concurrent orders wait for the row lock, and a single statement holds this lock only briefly (see the
// `create-order-hot` benchmark). If the product's stock was not tracked, the delta becomes the initial stock. The update adds the delta to
// the current value, so that no concurrent sale is lost.
export const applyAndRecordStockDelta = prepareStatement<StockAdjustmentRow>(
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
