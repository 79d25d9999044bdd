import { formatDecimalAmount, type Order, type OrderExportColumn, type OrderSummary } from '@mandate/contract';
import type { CsvCell } from '../tasks/format-formula-safe-csv.ts';

type Line = Order['items'][number];
/** The data for one row of the file. In an export with one row per order, `line` is `undefined`. */
export type OrderExportRow = { readonly order: OrderSummary; readonly line: Line | undefined };

const decimal = (amount: number | undefined, { order }: OrderExportRow): string | null =>
  amount === undefined ? null : formatDecimalAmount(amount, order.currency);

const deliveryField =
  (name: keyof OrderSummary['delivery']) =>
  ({ order }: OrderExportRow): CsvCell =>
    order.delivery[name] ?? null;
const orderField =
  (name: Exclude<keyof OrderSummary, 'delivery' | 'items' | 'customer' | 'client'>) =>
  ({ order }: OrderExportRow): CsvCell =>
    order[name];
const lineField =
  (name: keyof Line) =>
  ({ line }: OrderExportRow): CsvCell =>
    line?.[name] ?? null;

/** Maps each export column to a function that returns the column's value in a row. */
export const orderExportCellReaders = {
  id: orderField('id'),
  reference: orderField('reference'),
  user_id: orderField('user_id'),
  client_id: orderField('client_id'),
  status: orderField('status'),
  payment_status: orderField('payment_status'),
  fulfillment_status: orderField('fulfillment_status'),
  cancel_reason: orderField('cancel_reason'),
  currency: orderField('currency'),
  tax_mode: orderField('tax_mode'),
  subtotal: orderField('subtotal'),
  subtotal_decimal: (row) => decimal(row.order.subtotal, row),
  discount_total: orderField('discount_total'),
  discount_total_decimal: (row) => decimal(row.order.discount_total, row),
  shipping_total: orderField('shipping_total'),
  shipping_total_decimal: (row) => decimal(row.order.shipping_total, row),
  tax_total: orderField('tax_total'),
  tax_total_decimal: (row) => decimal(row.order.tax_total, row),
  total: orderField('total'),
  total_decimal: (row) => decimal(row.order.total, row),
  refunded_total: orderField('refunded_total'),
  refunded_total_decimal: (row) => decimal(row.order.refunded_total, row),
  item_count: orderField('item_count'),
  delivery_method: deliveryField('method'),
  recipient_name: deliveryField('recipient_name'),
  phone: deliveryField('phone'),
  line1: deliveryField('line1'),
  line2: deliveryField('line2'),
  city: deliveryField('city'),
  region: deliveryField('region'),
  postal_code: deliveryField('postal_code'),
  country: deliveryField('country'),
  note: orderField('note'),
  metadata: orderField('metadata'),
  version: orderField('version'),
  expires_at: orderField('expires_at'),
  created_at: orderField('created_at'),
  updated_at: orderField('updated_at'),
  paid_at: orderField('paid_at'),
  shipped_at: orderField('shipped_at'),
  delivered_at: orderField('delivered_at'),
  canceled_at: orderField('canceled_at'),
  line: lineField('line'),
  product_id: lineField('product_id'),
  sku: lineField('sku'),
  name: lineField('name'),
  quantity: lineField('quantity'),
  shipped_quantity: lineField('shipped_quantity'),
  restocked_quantity: lineField('restocked_quantity'),
  unit_price: lineField('unit_price'),
  unit_price_decimal: (row) => decimal(row.line?.unit_price, row),
  tax_rate_bps: lineField('tax_rate_bps'),
  line_tax: lineField('tax'),
  line_tax_decimal: (row) => decimal(row.line?.tax, row),
  line_total: lineField('total'),
  line_total_decimal: (row) => decimal(row.line?.total, row),
} satisfies Record<OrderExportColumn, (row: OrderExportRow) => CsvCell>;
