import { z } from 'zod';
import { lengthLimitedTextSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfPublicOperations,
  cursorProblemCodes,
} from '../../protocol/problems.ts';
import { productStatusFilterSchema } from './products.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';

const fails = declareProblemResponses(commonProblemTypes);

export const productCategoryWithCountSchema = withSchemaName(
  'ProductCategory',
  z.object({
    category: lengthLimitedTextSchema(64, 1).describe('Name of the category, as used in the `category` field and filter of products.'),
    product_count: z.number().int().min(1).describe('Number of products in the category.'),
  }),
);

export const productCategoryRoutes = defineResource('Product categories', 'Product categories, with the number of products in each.', {
  list: {
    method: 'GET',
    path: '/product-categories',
    query: z.object({ ...paginationParameters, status: productStatusFilterSchema }).strict(),
    summary: 'List product categories',
    description:
      'Returns the categories of the products that the caller may see, sorted by name. A category without visible products is not listed.',
    responses: {
      200: listPageSchema('ProductCategoryPage', productCategoryWithCountSchema),
      ...fails(...problemCodesOfPublicOperations, ...cursorProblemCodes, 'forbidden'),
    },
    metadata: declareRouteMetadata({ operationId: 'productCategories.list', access: 'public' }),
  },
});
export type ProductCategory = z.output<typeof productCategoryWithCountSchema>;
