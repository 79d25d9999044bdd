import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { columnNameParameters, importParameters, uploadBodySchema, uploadLimitsText, uploadRouteMetadata } from './import-parameters.ts';
import { currencySchema } from '../../schema/money.ts';
import { commonProblems, declareProblemResponses, permissionProblems, fileProblems, idempotencyProblems } from '../../protocol/problems.ts';
import { routeMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { taskCreationProblems, taskSchema, taskProblems } from './tasks.ts';
import { externalNameSchema } from '../../schema/text-and-timestamps.ts';

const c = initContract();
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

export const productImportRoutes = c.router({
  create: {
    method: 'POST',
    path: '/product-imports',
    headers: idempotencyHeadersSchema,
    query: z
      .object({
        ...importParameters,
        currency: currencySchema.optional().describe('Currency of products whose rows do not specify one.'),
        category: externalNameSchema(64).optional().describe('Category of new products whose rows do not specify one.'),
        ...columnNameParameters(productImportFields),
      })
      .strict(),
    body: uploadBodySchema,
    summary: 'Import products',
    description: `Starts a task that imports products from a file. Products with a known SKU are updated; all other products are created. Fields that the file does not contain keep their values. The stock is set only for new products. The result file lists each rejected line with the reason. Also requires the \`products.write\` scope. ${uploadLimitsText}`,
    responses: { 202: taskSchema, ...fails(...permissionProblems, ...fileProblems, ...idempotencyProblems, ...taskCreationProblems) },
    metadata: routeMetadata({ operationId: 'productImports.create', access: ['tasks.write'], idempotent: true, ...uploadRouteMetadata }),
  },
});
