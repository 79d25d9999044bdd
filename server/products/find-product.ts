import type { Product } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { productColumnsSql, type ProductRow, productTablesSql, productFromRow } from './product-rows.ts';

const readProduct = prepareStatement<ProductRow>(
  'read_product',
  `select ${productColumnsSql} from ${productTablesSql} where p.id = $1 and (p.status = 'active' or $2)`,
);

/** Returns a product with its current stock. `includeInactive` also finds drafts and archived products. */
export async function findProduct(em: EntityManager, id: number, includeInactive: boolean): Promise<Product> {
  const [row] = await readProduct(em, [id, includeInactive]);
  if (!row) throw createProblem('not_found', { detail: `Product ${id} was not found.` });
  return productFromRow(row);
}
