import { type Product, productStatuses } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { listProducts } from './list-products.sql.ts';
import { productFromRow } from './product-and-stock-adjustment-from-row.ts';

/** Returns a product with its current stock. If `includeInactive` is true, drafts and archived products are also found. */
export async function findProductOrThrow(em: EntityManager, id: number, includeInactive: boolean): Promise<Product> {
  const product = await queryProduct(em, id, includeInactive);
  if (!product) throw createProblem('not_found', { detail: translatable`Product ${{ id }} was not found.` });
  return product;
}

/** Returns a product that must exist, with its current stock, for use in events. */
export async function findProductForEventOrThrow(em: EntityManager, id: number): Promise<Product> {
  const product = await queryProduct(em, id, true);
  if (!product) throw new Error(`product ${id} does not exist`);
  return product;
}

async function queryProduct(em: EntityManager, id: number, includeInactive: boolean): Promise<Product | undefined> {
  const status = includeInactive ? productStatuses : (['active'] as const);
  const [row] = await listProducts(em, { id, status }, { by: 'created_at', descending: false }, undefined, 1);
  return row && productFromRow(row);
}
