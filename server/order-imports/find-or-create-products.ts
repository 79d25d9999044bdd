import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { RowError } from '../imports/parse-import-cells-and-validate-row.ts';
import { Product } from '../products/product-stock-and-adjustment.entity.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { ImportedOrderFields, ImportedOrderLine } from './parse-order-row.ts';

/** Returns the product IDs of all order lines, indexed by SKU, or an error. If the import allows it, creates products for unknown SKUs. */
export async function findOrCreateProducts(
  em: EntityManager,
  params: OrderImportParams,
  { currency }: ImportedOrderFields,
  lines: readonly ImportedOrderLine[],
): Promise<ReadonlyMap<string, number> | RowError> {
  const ids = await findProductIds(em, lines);
  const unknown = new Map(lines.filter(({ sku }) => !ids.has(sku)).map((line) => [line.sku, line]));
  if (unknown.size === 0) return ids;
  if (params.unknown_products === 'refuse') {
    const skus = [...unknown.keys()].slice(0, 10).join(', ');
    return { field: 'sku', code: 'unknown_reference', detail: `There is no product with the SKU ${skus}.` };
  }
  await createProducts(em, [...unknown.values()], currency);
  return findProductIds(em, lines);
}

/**
 * Creates archived products in SKU order, so that concurrent imports cannot deadlock. Skips products that another import has just created.
 */
async function createProducts(em: EntityManager, lines: readonly ImportedOrderLine[], currency: string): Promise<void> {
  const sorted = lines.toSorted((a, b) => (a.sku < b.sku ? -1 : 1));
  const values = sorted.map(({ sku, name, unit_price: price, tax_rate_bps: taxRateBps }) => ({ sku, name, price, taxRateBps }));
  const products = values.map((each) => ({ ...each, category: 'imported', currency, status: 'archived' as const }));
  await em.createQueryBuilder(Product).insert(products).onConflict('sku').ignore().execute();
}

async function findProductIds(em: EntityManager, lines: readonly ImportedOrderLine[]): Promise<ReadonlyMap<string, number>> {
  const skus = [...new Set(lines.map(({ sku }) => sku))];
  const products = await em.find(Product, { sku: { $in: skus } }, { fields: ['sku'], disableIdentityMap: true });
  return new Map(products.map(({ sku, id }) => [sku, id]));
}
