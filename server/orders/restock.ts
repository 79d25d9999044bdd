import type { LineQuantity } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { findProduct } from '../products/find-product.ts';

// Stock rows are always locked in product order. A check constraint keeps a line from returning more units than were ordered.
const incrementStock = prepareStatement<{ product_id: number; before: number }>(
  'restock_order_lines',
  `with returned as (
     update order_items i set restocked_quantity = i.restocked_quantity + w.quantity
       from unnest($1::bigint[], $2::int[], $3::int[]) as w (order_id, line, quantity)
      where i.order_id = w.order_id and i.line = w.line
     returning i.product_id, w.quantity),
   sums as (select product_id, sum(quantity)::int as quantity from returned group by product_id),
   locked as (
     select s.product_id from product_stock s join sums q on q.product_id = s.product_id order by s.product_id for no key update of s)
   update product_stock s set available = s.available + q.quantity
     from locked l join sums q on q.product_id = l.product_id
    where s.product_id = l.product_id
   returning s.product_id, s.available - q.quantity as before`,
);
const findUnreturnedLines = prepareStatement<OrderLine>(
  'find_unrestocked_lines',
  `select order_id, line, quantity - restocked_quantity as quantity
     from order_items where order_id = any($1::bigint[]) and restocked_quantity < quantity`,
);

type OrderLine = LineQuantity & { readonly order_id: number };

/**
 * Returns all units of these orders to stock, except those already returned. The caller has locked the orders, so that no unit is returned
 * twice.
 */
export const restockOrders = async (em: EntityManager, orderIds: readonly number[]): Promise<void> =>
  returnLines(em, await findUnreturnedLines(em, [orderIds]));

/** Returns units of a locked order to stock. */
export const restockOrderLines = (em: EntityManager, orderId: number, lines: readonly LineQuantity[]): Promise<void> =>
  returnLines(
    em,
    lines.map((line) => ({ ...line, order_id: orderId })),
  );

async function returnLines(em: EntityManager, lines: readonly OrderLine[]): Promise<void> {
  if (lines.length === 0) return;
  const changes = await incrementStock(em, [
    lines.map((line) => line.order_id),
    lines.map((line) => line.line),
    lines.map((line) => line.quantity),
  ]);
  for (const { product_id: id } of changes.filter(({ before }) => before === 0)) {
    await recordEvent(em, 'product.back_in_stock', await findProduct(em, id, true), null);
  }
}
