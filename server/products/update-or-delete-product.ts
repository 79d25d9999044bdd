import { LockMode } from '@mikro-orm/core';
import type { Product as ProductBody, ProductReplace, ProductUpdate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { getSqlState } from '../database/errors/sql-error-fields.ts';
import { recordEvent } from '../events/record-event.ts';
import { applyMetadataMergePatch } from '../http/writes/apply-metadata-merge-patch.ts';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';
import { translatable, type ProblemDetail } from '../http/problem-details/translatable-text.ts';
import { findProductOrThrow } from './find-product.ts';
import { Product, ProductStock, StockAdjustment } from './product-stock-and-adjustment.entity.ts';

/** Returns a product, locked until the transaction ends. */
export async function lockProductRow(em: EntityManager, id: number): Promise<Product> {
  const product = await em.findOne(Product, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!product) throw createProblem('not_found', { detail: translatable`Product ${{ id }} was not found.` });
  return product;
}

/** New values of a product; absent fields are unchanged. */
type ProductChange = Omit<ProductUpdate, 'metadata'> & Pick<Partial<ProductReplace>, 'metadata'>;

/** Applies a merge patch (RFC 7396) to a locked product. */
export const updateProductByMergePatch = (
  em: EntityManager,
  product: Product,
  { metadata, ...patch }: ProductUpdate,
): Promise<ProductBody> =>
  updateProduct(em, product, { ...patch, ...(metadata && { metadata: applyMetadataMergePatch(product.metadata, metadata) }) });

/** Sets the given fields of a locked product. */
export async function updateProduct(
  em: EntityManager,
  product: Product,
  { status, tax_rate_bps: taxRateBps, ...fields }: ProductChange,
): Promise<ProductBody> {
  const before = { version: product.version, status: product.status };
  Object.assign(product, definedFields({ ...fields, taxRateBps }));
  if (status !== undefined) product.changeStatus(status);
  await em.flush();
  const body = await findProductOrThrow(em, product.id, true);
  const archived = body.status === 'archived' && before.status !== 'archived';
  if (body.version !== before.version) await recordEvent(em, archived ? 'product.archived' : 'product.updated', body, null);
  return body;
}

const definedFields = (fields: object): object => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Deletes a draft that was never ordered, with its stock and stock adjustments. */
export async function deleteUnorderedDraftProduct(em: EntityManager, product: Product): Promise<void> {
  if (product.status !== 'draft')
    throw productInUse(translatable`The product has the status ${{ status: product.status }}. Archive it instead of deleting it.`);
  const body = await findProductOrThrow(em, product.id, true);
  await em.nativeDelete(StockAdjustment, { product: product.id });
  await em.nativeDelete(ProductStock, { product: product.id });
  await em.nativeDelete(Product, { id: product.id }).catch((error: unknown) => {
    const foreignKeyViolation = '23503';
    if (getSqlState(error) === foreignKeyViolation) throw productInUse('The product is part of existing orders.');
    throw error;
  });
  await recordEvent(em, 'product.deleted', body, null);
}

const productInUse = (detail: ProblemDetail): Problem => createProblem('product_in_use', { detail });
