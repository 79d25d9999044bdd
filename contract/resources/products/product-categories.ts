import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { nameSchema } from '../../schema/named-schema.ts';
import { pageSchema, pageParameters } from '../../schema/pagination.ts';
import { commonProblems, declareProblemResponses, publicProblems, cursorProblems } from '../../protocol/problems.ts';
import { productStatusFilterSchema } from './products.ts';
import { routeMetadata } from '../../protocol/route-metadata.ts';

const c = initContract();
const fails = declareProblemResponses(commonProblems);

export const productCategorySchema = nameSchema(
  'ProductCategory',
  z.object({
    category: z.string().min(1).max(64).describe('Name of the category, as in the `category` field and filter of products.'),
    product_count: z.number().int().min(1).describe('Number of products in the category.'),
  }),
);

export const productCategoryRoutes = c.router({
  list: {
    method: 'GET',
    path: '/product-categories',
    query: z.object({ ...pageParameters, status: productStatusFilterSchema }).strict(),
    summary: 'List product categories',
    description:
      'Returns the categories of the products that the caller may see, sorted by name. A category without visible products is not listed.',
    responses: {
      200: pageSchema('ProductCategoryPage', productCategorySchema),
      ...fails(...publicProblems, ...cursorProblems, 'forbidden'),
    },
    metadata: routeMetadata({ operationId: 'productCategories.list', access: 'public' }),
  },
});
export type ProductCategory = z.output<typeof productCategorySchema>;
