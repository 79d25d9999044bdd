import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import {
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
  rejectIfMatchMismatch,
  requireMatchingIfMatch,
} from '../http/response/etag-and-conditional-requests.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { rejectReversedTimeRange, createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import { formatPrincipalKey } from '../http/request/principal-and-token-types.ts';
import { createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { findPrincipal, requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { handleAdjustStock, handleListStockAdjustments } from './stock-adjustment-handlers.ts';
import { createProduct } from './create-product.ts';
import { findProductOrThrow } from './find-product.ts';
import { searchOrListProducts, getProductCursorPosition } from './search-or-list-products.ts';
import { countProducts, parseProductSort } from './list-products.sql.ts';
import { productFromRow } from './product-and-stock-adjustment-from-row.ts';
import { authorizeAndResolveListedProductStatuses } from './authorize-and-resolve-product-statuses.ts';
import { deleteUnorderedDraftProduct, lockProductRow, updateProductByMergePatch, updateProduct } from './update-or-delete-product.ts';

const etagName = (id: number): string => `product-${id}`;

export const productRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.products, {
    list: (request) => handleListProducts(dependencies, request),
    get: (request) => handleGetProduct(dependencies, request),
    create: (request) => handleCreateProduct(dependencies, request),
    update: (request) => handleUpdateProduct(dependencies, request),
    replace: (request) => handleReplaceProduct(dependencies, request),
    delete: (request) => handleDeleteProduct(dependencies, request),
    adjustStock: (request) => handleAdjustStock(dependencies, request),
    listStockAdjustments: (request) => handleListStockAdjustments(dependencies, request),
  });

const handleListProducts: RouteHandler<typeof contract.products.list, HandlerDependencies> = async (
  { readList, pages },
  { query, req, res },
) => {
  rejectReversedTimeRange(query, 'price_gte', 'price_lte');
  const sort = parseProductSort(query.sort ?? (query.q === undefined ? '-created_at' : 'relevance'));
  if (sort.by === 'relevance' && query.q === undefined) throw relevanceWithoutText();
  const { category, sku, price_gte: priceGte, price_lte: priceLte } = query;
  const filters = { status: authorizeAndResolveListedProductStatuses(req, query.status), category, sku, priceGte, priceLte };
  const position = pages.decodeCursor(req, query);
  const { rows, search } = await readList((from) => searchOrListProducts(from, query.q, filters, sort, position, query.limit));
  const page = pages.respondWithPage(req, res, query, rows, productFromRow, (row) => getProductCursorPosition(row, sort, search));
  const count = () => readList((from) => countProducts(from, { ...filters, search }));
  return { status: 200, body: { ...page, ...(await createTotalCountFields(query, count)) } };
};

const handleGetProduct: RouteHandler<typeof contract.products.get, HandlerDependencies> = async (
  { em },
  { params: { product_id: id }, req, res },
) => {
  const product = await findProductOrThrow(em, id, canUseScope(findPrincipal(req), 'products.write'));
  return respondWithEtagOrNotModified(req, res, etagName(id), product, product.stock);
};

const handleCreateProduct: RouteHandler<typeof contract.products.create, HandlerDependencies> = ({ em }, { body, req, res }) =>
  createResourceIdempotently(
    em,
    req,
    res,
    (inner) => createProduct(inner, formatPrincipalKey(requirePrincipal(req)), body),
    ({ id }) => `/api/v1/products/${id}`,
  );

const handleUpdateProduct: RouteHandler<typeof contract.products.update, HandlerDependencies> = async (
  { em },
  { params: { product_id: id }, body, req, res },
) => {
  const updated = await em.transactional(async (inner) => {
    const product = await lockProductRow(inner, id);
    rejectIfMatchMismatch(req, etagName(id), product);
    return updateProductByMergePatch(inner, product, body);
  });
  return respondWithEtagOfChangedResource(res, etagName(id), updated, updated.stock);
};

const handleReplaceProduct: RouteHandler<typeof contract.products.replace, HandlerDependencies> = async (
  { em },
  { params: { product_id: id }, body, req, res },
) => {
  const replaced = await em.transactional(async (inner) => {
    const product = await lockProductRow(inner, id);
    requireMatchingIfMatch(req, etagName(id), product);
    return updateProduct(inner, product, body);
  });
  return respondWithEtagOfChangedResource(res, etagName(id), replaced, replaced.stock);
};

const handleDeleteProduct: RouteHandler<typeof contract.products.delete, HandlerDependencies> = async (
  { em },
  { params: { product_id: id }, req },
) => {
  await em.transactional(async (inner) => {
    const product = await lockProductRow(inner, id);
    rejectIfMatchMismatch(req, etagName(id), product);
    await deleteUnorderedDraftProduct(inner, product);
  });
  return { status: 204, body: undefined };
};

const relevanceWithoutText = () =>
  createInvalidRequestProblem({
    in: 'query',
    parameter: 'sort',
    code: 'conflicting_parameters',
    detail: '`relevance` requires `q`: add `q`, or choose a different sort order.',
  });
