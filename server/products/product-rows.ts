import type { Product, StockAdjustment } from '@mandate/contract';
import { timestampToRfc3339 } from '../database/time/timestamp-to-rfc3339.ts';

/** A product as read from the database: API field names, PostgreSQL timestamps. */
export type ProductRow = Product;

export const productColumnsSql = `p.id, p.sku, p.name, p.description, p.category, p.price, p.currency, p.tax_rate_bps, s.available as stock, p.status,
  p.metadata, p.version, p.created_at, p.updated_at`;

export const productTablesSql = 'products p left join product_stock s on s.product_id = p.id';

export const productFromRow = (row: ProductRow): Product => ({
  ...row,
  created_at: timestampToRfc3339(row.created_at),
  updated_at: timestampToRfc3339(row.updated_at),
});

export type StockAdjustmentRow = StockAdjustment;

export const stockAdjustmentColumnsSql = 'id, product_id, delta, stock_after, reason, note, created_at';

export const stockAdjustmentFromRow = (row: StockAdjustmentRow): StockAdjustment => ({
  ...row,
  created_at: timestampToRfc3339(row.created_at),
});
