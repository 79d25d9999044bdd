import type { InferEntity } from '@mikro-orm/core';
import type { Order, OrderSummary } from '@mandate/contract';
import { timestampToRfc3339, timestampToRfc3339OrNull } from '../database/time/timestamp-to-rfc3339.ts';
import type { OrderItem } from './order-and-order-item.entity.ts';

/** An order as read from the database, with API field names and PostgreSQL timestamps. */
export type OrderRow = OrderSummary;

export const orderColumnsSql = `o.id, o.user_id, o.client_id, o.status, o.payment_status, o.fulfillment_status, o.cancel_reason, o.currency, o.tax_mode,
  o.subtotal, o.discount_total, o.shipping_total, o.tax_total, o.total, o.refunded_total, o.item_count, o.delivery, o.reference, o.note, o.metadata,
  o.version, o.expires_at, o.created_at, o.updated_at, o.paid_at, o.shipped_at, o.delivered_at, o.canceled_at`;

/** Selects the lines of the order `o` as a JSON array. */
export const orderItemsAsJsonSql = `(
     select json_agg(item) from (
       select i.line, i.product_id, i.sku, i.name, i.unit_price, i.quantity, i.shipped_quantity, i.restocked_quantity, i.tax_rate_bps, i.tax, i.total
         from order_items i where i.order_id = o.id order by i.line) item)`;

export const orderSummaryFromRow = (row: OrderRow): OrderSummary => ({
  ...row,
  expires_at: timestampToRfc3339OrNull(row.expires_at),
  created_at: timestampToRfc3339(row.created_at),
  updated_at: timestampToRfc3339(row.updated_at),
  paid_at: timestampToRfc3339OrNull(row.paid_at),
  shipped_at: timestampToRfc3339OrNull(row.shipped_at),
  delivered_at: timestampToRfc3339OrNull(row.delivered_at),
  canceled_at: timestampToRfc3339OrNull(row.canceled_at),
});

export const orderFromRow = (row: OrderRow, items: Order['items']): Order => ({ ...orderSummaryFromRow(row), items });

/** Returns an order line's API representation. */
export const orderLineFromEntity = (item: InferEntity<typeof OrderItem>): Order['items'][number] => ({
  line: item.line,
  product_id: item.product.id,
  sku: item.sku,
  name: item.name,
  unit_price: item.unitPrice,
  quantity: item.quantity,
  shipped_quantity: item.shippedQuantity,
  restocked_quantity: item.restockedQuantity,
  tax_rate_bps: item.taxRateBps,
  tax: item.tax,
  total: item.total,
});
