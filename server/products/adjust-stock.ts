import { maxStock, type EventType, type StockAdjustment, type StockAdjustmentCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvents } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { findProductOrThrow } from './find-product.ts';
import { applyAndRecordStockDelta } from './adjust-stock.sql.ts';
import { Product, ProductStock } from './product-stock-and-adjustment.entity.ts';
import { stockAdjustmentFromRow } from './product-and-stock-adjustment-from-row.ts';

/** Changes a product's stock by `delta` and records the adjustment with its reason. */
export async function adjustStock(
  em: EntityManager,
  actor: string,
  productId: number,
  { delta, reason, note }: StockAdjustmentCreate,
): Promise<StockAdjustment> {
  const product = await em.findOne(Product, { id: productId }, { fields: ['id'], disableIdentityMap: true });
  if (!product) throw createProblem('not_found', { detail: translatable`Product ${{ id: productId }} was not found.` });
  const [row] = await applyAndRecordStockDelta(em, [productId, delta, reason, note ?? null, actor]);
  if (row) {
    await recordStockEvents(em, productId, row.stock_after - delta, row.stock_after);
    return stockAdjustmentFromRow(row);
  }
  const stock = await em.findOne(ProductStock, { product: productId }, { disableIdentityMap: true });
  const available = stock?.available ?? 0;
  throw createProblem('insufficient_stock', {
    detail: translatable`${{ available }} units are available; the adjustment would bring the stock below 0 or above ${{ maximum: maxStock }}.`,
    errors: [
      {
        in: 'body',
        pointer: '#/delta',
        code: 'out_of_range',
        detail: translatable`${{ available }} units are available.`,
        available,
      },
    ],
  });
}

/** Records `product.stock_changed` and, if the stock reaches or leaves zero, `product.out_of_stock` or `product.back_in_stock`. */
async function recordStockEvents(em: EntityManager, productId: number, before: number, after: number): Promise<void> {
  const subject = await findProductOrThrow(em, productId, true);
  const types: EventType[] = ['product.stock_changed'];
  if (after === 0 && before > 0) types.push('product.out_of_stock');
  if (after > 0 && before === 0) types.push('product.back_in_stock');
  await recordEvents(
    em,
    types.map((type) => ({ type, subject })),
    null,
  );
}
