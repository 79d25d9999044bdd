import type { contract } from '@mandate/contract';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import { formatPrincipalKey } from '../http/request/principal-and-token-types.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { adjustStock } from './adjust-stock.ts';
import { findProductOrThrow } from './find-product.ts';
import { countStockAdjustments, listStockAdjustments } from './list-stock-adjustments.ts';
import { stockAdjustmentFromEntity } from './product-and-stock-adjustment-from-row.ts';

export const handleAdjustStock: RouteHandler<typeof contract.products.adjustStock, HandlerDependencies> = (
  { em },
  { params, body, req, res },
) =>
  createResourceIdempotently(
    em,
    req,
    res,
    (inner) => adjustStock(inner, formatPrincipalKey(requirePrincipal(req)), params.product_id, body),
    () => `/api/v1/products/${params.product_id}/stock-adjustments`,
  );

export const handleListStockAdjustments: RouteHandler<typeof contract.products.listStockAdjustments, HandlerDependencies> = async (
  { em, pages },
  { params, query, req, res },
) => {
  const { id } = await findProductOrThrow(em, params.product_id, true);
  const rows = await listStockAdjustments(em, id, pages.decodeCursor(req, query), query.limit);
  const page = pages.respondWithPage(req, res, query, rows, stockAdjustmentFromEntity, (row) => [row.createdAt.toISOString(), row.id]);
  return { status: 200, body: { ...page, ...(await createTotalCountFields(query, () => countStockAdjustments(em, id))) } };
};
