import { z } from 'zod';
import { columnNameParameters, importParameters, uploadBodySchema, uploadLimitsText, uploadRouteMetadata } from './import-parameters.ts';
import { currencySchema } from '../../schema/money.ts';
import { commonProblems, declareProblemResponses, permissionProblems, fileProblems, idempotencyProblems } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { routeMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { taskCreationProblems, taskSchema, taskProblems } from './tasks.ts';
import { externalNameSchema } from '../../schema/text-and-timestamps.ts';

const fails = declareProblemResponses({ ...commonProblems, ...taskProblems });

export const productImportFields = [
  'sku',
  'name',
  'description',
  'category',
  'price',
  'currency',
  'tax_rate_bps',
  'stock',
  'status',
] as const;

export const productImportRoutes = defineResource('Product imports', 'Import of products from a file.', {
  create: {
    method: 'POST',
    path: '/product-imports',
    headers: idempotencyHeadersSchema,
    query: z
      .object({
        ...importParameters,
        currency: currencySchema.optional().describe('Currency of products whose row has none.'),
        category: externalNameSchema(64).optional().describe('Category of new products whose row has none.'),
        ...columnNameParameters(productImportFields),
      })
      .strict(),
    body: uploadBodySchema,
    summary: 'Import products',
    description: `Starts a task that creates the products in a file and updates those whose SKU exists. Fields that the file does not contain keep their values. Stock is set for new products only. The result lists the rejected lines with the reasons. Also requires the \`products.write\` scope. ${uploadLimitsText}`,
    responses: { 202: taskSchema, ...fails(...permissionProblems, ...fileProblems, ...idempotencyProblems, ...taskCreationProblems) },
    metadata: routeMetadata({ operationId: 'productImports.create', access: ['tasks.write'], idempotent: true, ...uploadRouteMetadata }),
  },
});
