import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { may } from '../http/authorize.ts';
import { changed, found, requireMatch } from '../http/conditional.ts';
import { once } from '../http/idempotency.ts';
import { refuseReversed, total } from '../http/list-query.ts';
import { actorOf } from '../http/principal.ts';
import { problem } from '../http/problem.ts';
import { principalIfAny, principalOf } from '../http/request-scope.ts';
import type { ResourceDeps } from '../http/resource.ts';
import { stockAdjustmentRoutes } from './stock-adjustment-routes.ts';
import { createProduct } from './create-product.ts';
import { findProduct } from './find-product.ts';
import { countProducts, listProducts, sortOf } from './list-products.ts';
import { toProduct } from './product-rows.ts';
import { deleteProduct, lockProduct, patchProduct, updateProduct } from './update-product.ts';

const tagOf = (id: number): string => `product-${id}`;

export const productRoutes = (deps: ResourceDeps) => {
  const { em, readList, pages } = deps;
  return initServer().router(contract.products, {
    list: async ({ query, req, res }) => {
      refuseReversed(query, 'price_gte', 'price_lte');
      const status = query.status ?? ['active'];
      if (status.some((name) => name !== 'active') && !may(principalIfAny(req), 'products.write')) {
        throw problem('forbidden', { detail: 'Products that are not active need `products.write` and a member of staff.' });
      }
      const filters = { status, category: query.category, sku: query.sku, priceGte: query.price_gte, priceLte: query.price_lte };
      const sort = sortOf(query.sort);
      const rows = await readList((from) => listProducts(from, filters, sort, pages.positionOf(req, query), query.limit));
      const page = pages.answer(req, res, query, rows, toProduct, (row) => [toProduct(row)[sort.by], row.id]);
      return { status: 200, body: { ...page, ...(await total(query, () => readList((from) => countProducts(from, filters)))) } };
    },

    get: async ({ params: { product_id: id }, req, res }) => {
      const product = await findProduct(em, id, may(principalIfAny(req), 'products.write'));
      return found(req, res, tagOf(id), product, product.stock);
    },

    create: ({ body, req, res }) =>
      once(
        em,
        req,
        res,
        (inner) => createProduct(inner, actorOf(principalOf(req)), body),
        ({ id }) => `/api/v1/products/${id}`,
      ),

    update: async ({ params: { product_id: id }, body, req, res }) => {
      const updated = await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        requireMatch(req, tagOf(id), product);
        return patchProduct(inner, product, body);
      });
      return changed(res, tagOf(id), updated, updated.stock);
    },

    replace: async ({ params: { product_id: id }, body, req, res }) => {
      const replaced = await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        requireMatch(req, tagOf(id), product, 'required');
        return updateProduct(inner, product, body);
      });
      return changed(res, tagOf(id), replaced, replaced.stock);
    },

    delete: async ({ params: { product_id: id }, req }) => {
      await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        requireMatch(req, tagOf(id), product);
        await deleteProduct(inner, product);
      });
      return { status: 204, body: undefined };
    },

    ...stockAdjustmentRoutes(deps),
  });
};
