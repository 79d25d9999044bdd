import type { Product, ProductCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { violatedConstraint } from '../database/errors/sql-errors.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { recordEvent } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { type ProductRow, productFromRow } from './product-rows.ts';

const insertProduct = prepareStatement<ProductRow>(
  'insert_product',
  `with p as (
     insert into products (sku, name, description, category, price, currency, tax_rate_bps, metadata, status)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9)
     returning id, sku, name, description, category, price, currency, tax_rate_bps, status, metadata, version, created_at, updated_at),
   s as (insert into product_stock (product_id, available) select id, $10::int from p where $10::int is not null returning available),
   a as (insert into stock_adjustments (product_id, delta, stock_after, reason, actor)
         select p.id, s.available, s.available, 'received', $11 from p cross join s where s.available > 0)
   select p.*, s.available as stock from p left join s on true`,
);

/** Creates a product. Its initial stock is recorded as the first stock adjustment. */
export async function createProduct(em: EntityManager, actor: string, input: ProductCreate): Promise<Product> {
  const { sku, name, description, category, price, currency, tax_rate_bps, metadata, status, stock } = input;
  const values = [sku, name, description, category, price, currency, tax_rate_bps, JSON.stringify(metadata), status, stock, actor];
  const [row] = await insertProduct(em, values).catch((error: unknown) => {
    if (violatedConstraint(error) !== 'products_sku_unique') throw error;
    throw createProblem('sku_taken', {
      detail: `A product with the SKU ${sku} exists.`,
      errors: [{ in: 'body', pointer: '#/sku', code: 'not_unique', detail: 'A product with this SKU exists.' }],
      cause: error,
    });
  });
  if (!row) throw new Error('inserting a product returned no row');
  const product = productFromRow(row);
  await recordEvent(em, 'product.created', product, null);
  return product;
}
