import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { once } from '../http/writes/idempotency.ts';
import { total } from '../http/response/list-parameters.ts';
import { actorOf } from '../http/request/principal.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { adjustStock } from './adjust-stock.ts';
import { findProduct } from './find-product.ts';
import { countStockAdjustments, listStockAdjustments } from './list-stock-adjustments.ts';
import { toStockAdjustment } from './product-rows.ts';

const { adjustStock: adjustRoute, listStockAdjustments: listRoute } = contract.products;

/** Creates the handlers that adjust the stock of a product and list its adjustments. */
export const stockAdjustmentRoutes = ({ em, pages }: ResourceDeps) =>
  initServer().router(
    { adjustStock: adjustRoute, listStockAdjustments: listRoute },
    {
      adjustStock: ({ params, body, req, res }) =>
        once(
          em,
          req,
          res,
          (inner) => adjustStock(inner, actorOf(principalOf(req)), params.product_id, body),
          () => `/api/v1/products/${params.product_id}/stock-adjustments`,
        ),

      listStockAdjustments: async ({ params, query, req, res }) => {
        const { id } = await findProduct(em, params.product_id, true);
        const rows = await listStockAdjustments(em, id, pages.positionOf(req, query), query.limit);
        const page = pages.answer(req, res, query, rows, toStockAdjustment, (row) => [toStockAdjustment(row).created_at, row.id]);
        return { status: 200, body: { ...page, ...(await total(query, () => countStockAdjustments(em, id))) } };
      },
    },
  );
