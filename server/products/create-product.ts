import type { Product as ProductBody, ProductCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { getViolatedConstraint } from '../database/errors/sql-error-fields.ts';
import { recordEvents } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { Product, ProductStock, StockAdjustment } from './product-stock-and-adjustment.entity.ts';
import { productFromEntity } from './product-and-stock-adjustment-from-row.ts';

/** Creates products with distinct SKUs. Records the initial stock as the first stock adjustment, and an event for each product. */
export async function createProducts(em: EntityManager, actor: string, inputs: readonly ProductCreate[]): Promise<ProductBody[]> {
  await em.insertMany(Product, inputs.map(toProductRow)); // insertMany returns only the first ID
  const skus = inputs.map(({ sku }) => sku);
  const created = await em.find(Product, { sku: { $in: skus } }, { orderBy: { id: 'asc' }, disableIdentityMap: true });
  const stock = new Map(inputs.map((input) => [input.sku, input.stock]));
  const products = created.map((product) => productFromEntity(product, stock.get(product.sku) ?? null));
  await insertInitialStock(em, actor, products);
  const events = products.map((subject) => ({ type: 'product.created', subject }) as const);
  await recordEvents(em, events, null);
  return products;
}

const toProductRow = ({ tax_rate_bps: taxRateBps, stock: _stock, ...fields }: ProductCreate) => ({ ...fields, taxRateBps });

async function insertInitialStock(em: EntityManager, actor: string, products: readonly ProductBody[]): Promise<void> {
  const rows = products.flatMap(({ id: product, stock }) => (stock === null ? [] : [{ product, available: stock }]));
  if (rows.length > 0) await em.insertMany(ProductStock, rows);
  const received = rows.filter(({ available }) => available > 0);
  const reason = 'received' as const;
  const adjustments = received.map(({ product, available }) => ({ product, delta: available, stockAfter: available, reason, actor }));
  if (adjustments.length > 0) await em.insertMany(StockAdjustment, adjustments);
}

/** Creates a product and records its initial stock as the first stock adjustment. */
export async function createProduct(em: EntityManager, actor: string, input: ProductCreate): Promise<ProductBody> {
  const [product] = await createProducts(em, actor, [input]).catch((error: unknown) => {
    if (getViolatedConstraint(error) !== 'products_sku_unique') throw error;
    throw createProblem('sku_taken', {
      detail: translatable`A product with the SKU ${{ sku: input.sku }} already exists.`,
      errors: [{ in: 'body', pointer: '#/sku', code: 'not_unique', detail: 'A product with this SKU already exists.' }],
      cause: error,
    });
  });
  if (!product) throw new Error('inserting a product returned no row');
  return product;
}
