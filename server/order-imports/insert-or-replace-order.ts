import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { OrderItem } from '../orders/order-and-order-item.entity.ts';
import { insertOrderWithLinesAndImportReference, updateOrderInsertLinesAndSetFingerprint } from './insert-or-replace-order.sql.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { ImportedOrderFields, ImportedOrderLine } from './parse-order-row.ts';

export type ImportedOrderData = {
  readonly params: OrderImportParams;
  readonly head: ImportedOrderFields;
  readonly userId: number;
  readonly clientId: string;
  readonly lines: readonly ImportedOrderLine[];
  /** Product IDs by SKU. */
  readonly products: ReadonlyMap<string, number>;
  readonly fingerprint: string;
};

const fulfillment = { paid: 'unfulfilled', shipped: 'shipped', delivered: 'delivered', canceled: 'unfulfilled' } as const;

/** Inserts an imported order with its original dates and prices, and returns its ID. */
export async function insertImportedOrder(em: EntityManager, imported: ImportedOrderData): Promise<number> {
  const [order] = await insertOrderWithLinesAndImportReference(em, statementParameters(imported));
  if (!order) throw new Error('inserting an order returned no row');
  return order.id;
}

/** Replaces the data of a previously imported order. The caller must have locked the order. */
export async function replaceImportedOrder(em: EntityManager, imported: ImportedOrderData, orderId: number): Promise<void> {
  await em.nativeDelete(OrderItem, { order: orderId });
  const [order] = await updateOrderInsertLinesAndSetFingerprint(em, [...statementParameters(imported), orderId]);
  if (!order) throw new Error('replacing an order returned no row');
}

function statementParameters({ params, head, userId, clientId, lines, products, fingerprint }: ImportedOrderData): unknown[] {
  const { status, currency, discount_total: discount, shipping_total: shipping, delivery, reference, note } = head;
  const paid = status === 'canceled' ? 'unpaid' : 'paid';
  const rows = lines.map((each, at) => ({ ...each, line: at + 1, product_id: products.get(each.sku) }));
  return [
    userId,
    clientId,
    status,
    paid,
    fulfillment[status],
    currency,
    params.tax_mode,
    discount,
    shipping,
    JSON.stringify(delivery),
    reference,
    note ?? null,
    head.created_at,
    params.source,
    JSON.stringify(rows),
    fingerprint,
  ];
}
