import { type Product, productStatuses } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { listProducts } from './list-products.sql.ts';
import { productFromRow } from './product-and-stock-adjustment-from-row.ts';

/** Returns a product with its current stock. If `includeInactive` is true, drafts and archived products are found, too. */
export async function findProduct(em: EntityManager, id: number, includeInactive: boolean): Promise<Product> {
  const status = includeInactive ? productStatuses : (['active'] as const);
  const [row] = await listProducts(em, { id, status }, { by: 'created_at', descending: false }, undefined, 1);
  if (!row) throw createProblem('not_found', { detail: `Product ${id} was not found.` });
  return productFromRow(row);
}
