import type { InferEntity } from '@mikro-orm/core';
import type { Product, StockAdjustment } from '@mandate/contract';
import { timestampToRfc3339 } from '../database/time/timestamp-to-rfc3339.ts';
import type { Product as ProductEntity, StockAdjustment as StockAdjustmentEntity } from './product-stock-and-adjustment.entity.ts';

/** A product as read from the database, with API field names and PostgreSQL timestamps. */
export type ProductRow = Product;

export const productColumnsSql = `p.id, p.sku, p.name, p.description, p.category, p.price, p.currency, p.tax_rate_bps, s.available as stock, p.status,
  p.metadata, p.version, p.created_at, p.updated_at`;

export const productsJoinStockSql = 'products p left join product_stock s on s.product_id = p.id';

export const productFromRow = (row: ProductRow): Product => ({
  ...row,
  created_at: timestampToRfc3339(row.created_at),
  updated_at: timestampToRfc3339(row.updated_at),
});

/** Returns a product entity's API representation. */
export const productFromEntity = (product: ProductEntity, stock: number | null): Product => ({
  id: product.id,
  sku: product.sku,
  name: product.name,
  description: product.description,
  category: product.category,
  price: product.price,
  currency: product.currency,
  tax_rate_bps: product.taxRateBps,
  stock,
  status: product.status,
  metadata: product.metadata,
  version: product.version,
  created_at: product.createdAt.toISOString(),
  updated_at: product.updatedAt.toISOString(),
});

export type StockAdjustmentRow = StockAdjustment;

export const stockAdjustmentColumnsSql = 'id, product_id, delta, stock_after, reason, note, created_at';

export const stockAdjustmentFromRow = (row: StockAdjustmentRow): StockAdjustment => ({
  ...row,
  created_at: timestampToRfc3339(row.created_at),
});

/** Returns a stock adjustment entity's API representation. */
export const stockAdjustmentFromEntity = (adjustment: InferEntity<typeof StockAdjustmentEntity>): StockAdjustment => ({
  id: adjustment.id,
  product_id: adjustment.product,
  delta: adjustment.delta,
  stock_after: adjustment.stockAfter,
  reason: adjustment.reason,
  note: adjustment.note ?? null,
  created_at: adjustment.createdAt.toISOString(),
});
