import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { total } from '../http/response/list-parameters.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { countCategories, listCategories } from './list-categories.ts';
import { listedStatuses } from './product-statuses.ts';

export const productCategoryRoutes = ({ readList, pages }: ResourceDeps) =>
  initServer().router(contract.productCategories, {
    list: async ({ query, req, res }) => {
      const statuses = listedStatuses(req, query.status);
      const position = pages.positionOf(req, query);
      const after = position && String(position[0]);
      const rows = await readList((from) => listCategories(from, statuses, after, query.limit));
      const page = pages.answer(
        req,
        res,
        query,
        rows,
        (row) => row,
        // Category names are unique, so the cursor needs no id.
        ({ category }) => [category, 0],
      );
      return { status: 200, body: { ...page, ...(await total(query, () => readList((from) => countCategories(from, statuses)))) } };
    },
  });
