import type { LineQuantity } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import { findProductOrThrow } from '../products/find-product.ts';
import { OrderItem } from './order-and-order-item.entity.ts';
import { markItemsRestockedAndIncreaseStock } from './mark-order-items-restocked-and-increase-stock.sql.ts';

type OrderLine = LineQuantity & { readonly order_id: number };

/**
 * Puts all units of these orders back into stock, except the units that have already been returned. The caller must have locked the orders,
 * so that no unit is returned twice.
 */
export async function returnAllItemsOfOrdersToStock(em: EntityManager, orderIds: readonly number[]): Promise<void> {
  const items = await em.find(OrderItem, { order: { $in: [...orderIds] } }, { disableIdentityMap: true });
  const lines = items.map((item) => ({ order_id: item.order.id, line: item.line, quantity: item.quantity - item.restockedQuantity }));
  await returnLines(
    em,
    lines.filter(({ quantity }) => quantity > 0),
  );
}

/** Puts units of a locked order back into stock. */
export const returnOrderItemsToStock = (em: EntityManager, orderId: number, lines: readonly LineQuantity[]): Promise<void> =>
  returnLines(
    em,
    lines.map((line) => ({ ...line, order_id: orderId })),
  );

async function returnLines(em: EntityManager, lines: readonly OrderLine[]): Promise<void> {
  if (lines.length === 0) return;
  const changes = await markItemsRestockedAndIncreaseStock(em, [
    lines.map((line) => line.order_id),
    lines.map((line) => line.line),
    lines.map((line) => line.quantity),
  ]);
  for (const { product_id: id } of changes.filter(({ before }) => before === 0)) {
    await recordEvent(em, 'product.back_in_stock', await findProductOrThrow(em, id, true), null);
  }
}
