import type { Product, ProductCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { violatedConstraint } from '../database/errors/sql-errors.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvents } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { type ProductRow, productFromRow } from './product-rows.ts';

const insertProducts = prepareStatement<ProductRow>(
  'insert_products',
  `with input as materialized (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::int[], $8::text[], $9::text[], $10::int[])
       with ordinality as i (sku, name, description, category, price, currency, tax_rate_bps, metadata, status, stock, n)),
   p as (
     insert into products (sku, name, description, category, price, currency, tax_rate_bps, metadata, status)
     select sku, name, description, category, price, currency, tax_rate_bps, metadata::jsonb, status from input order by n
     returning id, sku, name, description, category, price, currency, tax_rate_bps, status, metadata, version, created_at, updated_at),
   s as (
     insert into product_stock (product_id, available)
     select p.id, input.stock from p join input on input.sku = p.sku where input.stock is not null
     returning product_id, available),
   a as (
     insert into stock_adjustments (product_id, delta, stock_after, reason, actor)
     select product_id, available, available, 'received', $11 from s where available > 0)
   select p.*, s.available as stock from p left join s on s.product_id = p.id order by p.id`,
);

/** Creates products with distinct SKUs. Records the initial stock as the first stock adjustment, and an event for each product. */
export async function createProducts(em: EntityManager, actor: string, inputs: readonly ProductCreate[]): Promise<Product[]> {
  const column = <Key extends keyof ProductCreate>(key: Key): ProductCreate[Key][] => inputs.map((input) => input[key]);
  const rows = await insertProducts(em, [
    column('sku'),
    column('name'),
    column('description'),
    column('category'),
    column('price'),
    column('currency'),
    column('tax_rate_bps'),
    column('metadata').map((metadata) => JSON.stringify(metadata)),
    column('status'),
    column('stock'),
    actor,
  ]);
  const products = rows.map(productFromRow);
  await recordEvents(em, 'product.created', products, null);
  return products;
}

/** Creates a product. The product's initial stock is recorded as the first stock adjustment. */
export async function createProduct(em: EntityManager, actor: string, input: ProductCreate): Promise<Product> {
  const [product] = await createProducts(em, actor, [input]).catch((error: unknown) => {
    if (violatedConstraint(error) !== 'products_sku_unique') throw error;
    throw createProblem('sku_taken', {
      detail: `A product with the SKU ${input.sku} exists.`,
      errors: [{ in: 'body', pointer: '#/sku', code: 'not_unique', detail: 'A product with this SKU exists.' }],
      cause: error,
    });
  });
  if (!product) throw new Error('inserting a product returned no row');
  return product;
}
