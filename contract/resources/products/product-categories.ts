import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, open, withCursor } from '../../protocol/problems.ts';
import { productStatusFilter } from './products.ts';
import { describedBy } from '../../protocol/route-metadata.ts';

const c = initContract();
const fails = failuresOf(commonProblems);

export const productCategory = component(
  'ProductCategory',
  z.object({
    category: z.string().min(1).max(64).describe('Name of the category, as in the `category` field and filter of products.'),
    product_count: z.number().int().min(1).describe('Number of products in the category.'),
  }),
);

export const productCategories = c.router({
  list: {
    method: 'GET',
    path: '/product-categories',
    query: z.object({ ...pageQuery, status: productStatusFilter }).strict(),
    summary: 'List product categories',
    description:
      'Returns the categories of the products that the caller may see, sorted by name. A category without visible products is not listed.',
    responses: { 200: page('ProductCategoryPage', productCategory), ...fails(...open, ...withCursor, 'forbidden') },
    metadata: describedBy({ operationId: 'productCategories.list', access: 'public' }),
  },
});
export type ProductCategory = z.output<typeof productCategory>;
