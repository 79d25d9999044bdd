import type { Product } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { problem } from '../http/problem-details/problem.ts';
import { productColumns, type ProductRow, productTables, toProduct } from './product-rows.ts';

const readProduct = statement<ProductRow>(
  'read_product',
  `select ${productColumns} from ${productTables} where p.id = $1 and (p.status = 'active' or $2)`,
);

/** Returns a product with its current stock. `includeInactive` also finds drafts and archived products. */
export async function findProduct(em: Em, id: number, includeInactive: boolean): Promise<Product> {
  const [row] = await readProduct(em, [id, includeInactive]);
  if (!row) throw problem('not_found', { detail: `Product ${id} was not found.` });
  return toProduct(row);
}
