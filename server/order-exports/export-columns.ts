import { decimalAmount, type Order, type OrderExportColumn, type OrderSummary } from '@mandate/contract';
import type { CsvCell } from '../tasks/csv-text.ts';

type Line = Order['items'][number];
/** What one row of the file is made from; without lines, `line` is `undefined`. */
export type Exported = { readonly order: OrderSummary; readonly line: Line | undefined };

const decimal = (amount: number | undefined, { order }: Exported): string | null =>
  amount === undefined ? null : decimalAmount(amount, order.currency);

const address =
  (name: keyof OrderSummary['delivery']) =>
  ({ order }: Exported): CsvCell =>
    order.delivery[name] ?? null;
const ofOrder =
  (name: Exclude<keyof OrderSummary, 'delivery' | 'items'>) =>
  ({ order }: Exported): CsvCell =>
    order[name];
const ofLine =
  (name: keyof Line) =>
  ({ line }: Exported): CsvCell =>
    line?.[name] ?? null;

/** Every column of the contract, and what stands in it. */
export const cellOf = {
  id: ofOrder('id'),
  reference: ofOrder('reference'),
  user_id: ofOrder('user_id'),
  client_id: ofOrder('client_id'),
  status: ofOrder('status'),
  payment_status: ofOrder('payment_status'),
  fulfillment_status: ofOrder('fulfillment_status'),
  cancel_reason: ofOrder('cancel_reason'),
  currency: ofOrder('currency'),
  tax_mode: ofOrder('tax_mode'),
  subtotal: ofOrder('subtotal'),
  subtotal_decimal: (row) => decimal(row.order.subtotal, row),
  discount_total: ofOrder('discount_total'),
  discount_total_decimal: (row) => decimal(row.order.discount_total, row),
  shipping_total: ofOrder('shipping_total'),
  shipping_total_decimal: (row) => decimal(row.order.shipping_total, row),
  tax_total: ofOrder('tax_total'),
  tax_total_decimal: (row) => decimal(row.order.tax_total, row),
  total: ofOrder('total'),
  total_decimal: (row) => decimal(row.order.total, row),
  refunded_total: ofOrder('refunded_total'),
  refunded_total_decimal: (row) => decimal(row.order.refunded_total, row),
  item_count: ofOrder('item_count'),
  delivery_method: address('method'),
  recipient_name: address('recipient_name'),
  phone: address('phone'),
  line1: address('line1'),
  line2: address('line2'),
  city: address('city'),
  region: address('region'),
  postal_code: address('postal_code'),
  country: address('country'),
  note: ofOrder('note'),
  metadata: ofOrder('metadata'),
  version: ofOrder('version'),
  expires_at: ofOrder('expires_at'),
  created_at: ofOrder('created_at'),
  updated_at: ofOrder('updated_at'),
  paid_at: ofOrder('paid_at'),
  shipped_at: ofOrder('shipped_at'),
  delivered_at: ofOrder('delivered_at'),
  canceled_at: ofOrder('canceled_at'),
  line: ofLine('line'),
  product_id: ofLine('product_id'),
  sku: ofLine('sku'),
  name: ofLine('name'),
  quantity: ofLine('quantity'),
  shipped_quantity: ofLine('shipped_quantity'),
  restocked_quantity: ofLine('restocked_quantity'),
  unit_price: ofLine('unit_price'),
  unit_price_decimal: (row) => decimal(row.line?.unit_price, row),
  tax_rate_bps: ofLine('tax_rate_bps'),
  line_tax: ofLine('tax'),
  line_tax_decimal: (row) => decimal(row.line?.tax, row),
  line_total: ofLine('total'),
  line_total_decimal: (row) => decimal(row.line?.total, row),
} satisfies Record<OrderExportColumn, (row: Exported) => CsvCell>;
