import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize.ts';
import { respondWithNewEtag, respondWithEtag, checkIfMatch } from '../http/response/etag.ts';
import { createIdempotently } from '../http/writes/idempotency.ts';
import { rejectReversedRange, totalCountFields } from '../http/response/list-parameters.ts';
import { actorKey } from '../http/request/principal.ts';
import { createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { findPrincipal, requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { stockAdjustmentRoutes } from './stock-adjustment-routes.ts';
import { createProduct } from './create-product.ts';
import { findProduct } from './find-product.ts';
import { findProducts, productCursorPosition } from './find-products.ts';
import { countProducts, parseProductSort } from './list-products.sql.ts';
import { productFromRow } from './product-rows.ts';
import { resolveProductStatusFilter } from './product-statuses.ts';
import { deleteProduct, lockProduct, patchProduct, updateProduct } from './update-or-delete-product.ts';

const etagName = (id: number): string => `product-${id}`;

export const productRoutes = (deps: HandlerDependencies) => {
  const { em, readList, pages } = deps;
  return initServer().router(contract.products, {
    list: async ({ query, req, res }) => {
      rejectReversedRange(query, 'price_gte', 'price_lte');
      const sort = parseProductSort(query.sort ?? (query.q === undefined ? '-created_at' : 'relevance'));
      if (sort.by === 'relevance' && query.q === undefined) throw relevanceWithoutText();
      const { category, sku, price_gte: priceGte, price_lte: priceLte } = query;
      const filters = { status: resolveProductStatusFilter(req, query.status), category, sku, priceGte, priceLte };
      const position = pages.decodeCursor(req, query);
      const { rows, search } = await readList((from) => findProducts(from, query.q, filters, sort, position, query.limit));
      const page = pages.respondWithPage(req, res, query, rows, productFromRow, (row) => productCursorPosition(row, sort, search));
      const count = () => readList((from) => countProducts(from, { ...filters, search }));
      return { status: 200, body: { ...page, ...(await totalCountFields(query, count)) } };
    },

    get: async ({ params: { product_id: id }, req, res }) => {
      const product = await findProduct(em, id, canUseScope(findPrincipal(req), 'products.write'));
      return respondWithEtag(req, res, etagName(id), product, product.stock);
    },

    create: ({ body, req, res }) =>
      createIdempotently(
        em,
        req,
        res,
        (inner) => createProduct(inner, actorKey(requirePrincipal(req)), body),
        ({ id }) => `/api/v1/products/${id}`,
      ),

    update: async ({ params: { product_id: id }, body, req, res }) => {
      const updated = await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        checkIfMatch(req, etagName(id), product);
        return patchProduct(inner, product, body);
      });
      return respondWithNewEtag(res, etagName(id), updated, updated.stock);
    },

    replace: async ({ params: { product_id: id }, body, req, res }) => {
      const replaced = await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        checkIfMatch(req, etagName(id), product, 'required');
        return updateProduct(inner, product, body);
      });
      return respondWithNewEtag(res, etagName(id), replaced, replaced.stock);
    },

    delete: async ({ params: { product_id: id }, req }) => {
      await em.transactional(async (inner) => {
        const product = await lockProduct(inner, id);
        checkIfMatch(req, etagName(id), product);
        await deleteProduct(inner, product);
      });
      return { status: 204, body: undefined };
    },

    ...stockAdjustmentRoutes(deps),
  });
};

const relevanceWithoutText = () =>
  createInvalidRequestProblem({
    in: 'query',
    parameter: 'sort',
    code: 'conflicting_parameters',
    detail: '`relevance` requires `q`: add `q`, or choose another sort.',
  });
