import type { Product, StockAdjustment } from '@mandate/contract';
import { instant } from '../database/time/timestamp-format.ts';

/** A product as read from the database: API field names, PostgreSQL timestamps. */
export type ProductRow = Product;

export const productColumns = `p.id, p.sku, p.name, p.description, p.category, p.price, p.currency, p.tax_rate_bps, s.available as stock, p.status,
  p.metadata, p.version, p.created_at, p.updated_at`;

export const productTables = 'products p left join product_stock s on s.product_id = p.id';

export const toProduct = (row: ProductRow): Product => ({
  ...row,
  created_at: instant(row.created_at),
  updated_at: instant(row.updated_at),
});

export type StockAdjustmentRow = StockAdjustment;

export const stockAdjustmentColumns = 'id, product_id, delta, stock_after, reason, note, created_at';

export const toStockAdjustment = (row: StockAdjustmentRow): StockAdjustment => ({ ...row, created_at: instant(row.created_at) });
