import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { countProductCategories, listProductCategories } from './list-product-categories.ts';
import { authorizeAndResolveListedProductStatuses } from './authorize-and-resolve-product-statuses.ts';

export const productCategoryListRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.productCategories, {
    list: (request) => handleListProductCategories(dependencies, request),
  });

const handleListProductCategories: RouteHandler<typeof contract.productCategories.list, HandlerDependencies> = async (
  { readList, pages },
  { query, req, res },
) => {
  const statuses = authorizeAndResolveListedProductStatuses(req, query.status);
  const position = pages.decodeCursor(req, query);
  const after = position && String(position[0]);
  const rows = await readList((from) => listProductCategories(from, statuses, after, query.limit));
  const page = pages.respondWithPage(
    req,
    res,
    query,
    rows,
    (row) => row,
    // Category names are unique, so the cursor needs no ID.
    ({ category }) => [category, 0],
  );
  return {
    status: 200,
    body: { ...page, ...(await createTotalCountFields(query, () => readList((from) => countProductCategories(from, statuses)))) },
  };
};
