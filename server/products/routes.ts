import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { may } from '../http/middleware/authorize.ts';
import { changed, found, requireMatch } from '../http/response/etag.ts';
import { once } from '../http/writes/idempotency.ts';
import { refuseReversed, total } from '../http/response/list-parameters.ts';
import { actorOf } from '../http/request/principal.ts';
import { invalidRequest } from '../http/problem-details/problem.ts';
import { principalIfAny, principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { stockAdjustmentRoutes } from './stock-adjustment-routes.ts';
import { createProduct } from './create-product.ts';
import { findProduct } from './find-product.ts';
import { findProducts, productPosition } from './find-products.ts';
import { countProducts, sortOf } from './list-products.ts';
import { toProduct } from './product-rows.ts';
import { listedStatuses } from './product-statuses.ts';
import { deleteProduct, lockProduct, patchProduct, updateProduct } from './update-product.ts';

const etagName = (id: number): string => `product-${id}`;

export const productRoutes = (deps: ResourceDeps) => {
  const { em, readList, pages } = deps;
  return initServer().router(contract.products, {
    list: async ({ query, req, res }) => {
      refuseReversed(query, 'price_gte', 'price_lte');
      const sort = sortOf(query.sort ?? (query.q === undefined ? '-created_at' : 'relevance'));
      if (sort.by === 'relevance' && query.q === undefined) throw relevanceWithoutText();
      const { category, sku, price_gte: priceGte, price_lte: priceLte } = query;
      const filters = { status: listedStatuses(req, query.status), category, sku, priceGte, priceLte };
      const position = pages.positionOf(req, query);
      const { rows, search } = await readList((from) => findProducts(from, query.q, filters, sort, position, query.limit));
      const page = pages.answer(req, res, query, rows, toProduct, (row) => productPosition(row, sort, search));
      const count = () => readList((from) => countProducts(from, { ...filters, search }));
      return { status: 200, body: { ...page, ...(await total(query, count)) } };
    },

    get: async ({ params: { product_id: id }, req, res }) => {
      const product = await findProduct(em, id, may(principalIfAny(req), 'products.write'));
      return found(req, res, etagName(id), product, product.stock);
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
        requireMatch(req, etagName(id), product);
        return patchProduct(inner, product, body);
      });
      return changed(res, etagName(id), updated, updated.stock);
    },

    replace: async ({ params: { product_id: id }, body, req, res }) => {
      const replaced = await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        requireMatch(req, etagName(id), product, 'required');
        return updateProduct(inner, product, body);
      });
      return changed(res, etagName(id), replaced, replaced.stock);
    },

    delete: async ({ params: { product_id: id }, req }) => {
      await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        requireMatch(req, etagName(id), product);
        await deleteProduct(inner, product);
      });
      return { status: 204, body: undefined };
    },

    ...stockAdjustmentRoutes(deps),
  });
};

const relevanceWithoutText = () =>
  invalidRequest({
    in: 'query',
    parameter: 'sort',
    code: 'conflicting_parameters',
    detail: '`relevance` requires `q`: add `q`, or choose another sort.',
  });
