import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { createIdempotently } from '../http/writes/idempotency.ts';
import { totalCountFields } from '../http/response/list-parameters.ts';
import { actorKey } from '../http/request/principal.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { adjustStock } from './adjust-stock.ts';
import { findProduct } from './find-product.ts';
import { stockAdjustmentFromEntity } from './product-rows.ts';
import { countStockAdjustments, listStockAdjustments } from './list-stock-adjustments.ts';

const { adjustStock: adjustRoute, listStockAdjustments: listRoute } = contract.products;

/** Creates the handlers that adjust a product's stock and list the adjustments. */
export const stockAdjustmentRoutes = ({ em, pages }: HandlerDependencies) =>
  initServer().router(
    { adjustStock: adjustRoute, listStockAdjustments: listRoute },
    {
      adjustStock: ({ params, body, req, res }) =>
        createIdempotently(
          em,
          req,
          res,
          (inner) => adjustStock(inner, actorKey(requirePrincipal(req)), params.product_id, body),
          () => `/api/v1/products/${params.product_id}/stock-adjustments`,
        ),

      listStockAdjustments: async ({ params, query, req, res }) => {
        const { id } = await findProduct(em, params.product_id, true);
        const rows = await listStockAdjustments(em, id, pages.decodeCursor(req, query), query.limit);
        const page = pages.respondWithPage(req, res, query, rows, stockAdjustmentFromEntity, (row) => [
          row.createdAt.toISOString(),
          row.id,
        ]);
        return { status: 200, body: { ...page, ...(await totalCountFields(query, () => countStockAdjustments(em, id))) } };
      },
    },
  );
