import { z } from 'zod';
import {
  createImportColumnNameParameters,
  importDryRunAndAmountFormatParameters,
  importFileBodySchema,
  importFileLimitsText,
  importFileRouteMetadata,
} from './import-parameters.ts';
import { currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  fileUploadProblemCodes,
  idempotencyProblemCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { taskCreationProblemCodes, taskSchema, taskProblemTypes } from './tasks.ts';
import { nameFromOtherSystemSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses({ ...commonProblemTypes, ...taskProblemTypes });

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

export const productImportRoutes = defineResource('Product imports', 'Import products from files.', {
  create: {
    method: 'POST',
    path: '/product-imports',
    headers: idempotencyHeadersSchema,
    query: z
      .object({
        ...importDryRunAndAmountFormatParameters,
        currency: currencySchema.optional().describe('Currency of products whose rows do not specify one.'),
        category: nameFromOtherSystemSchema(64).optional().describe('Category of new products whose rows do not specify one.'),
        ...createImportColumnNameParameters(productImportFields),
      })
      .strict(),
    body: importFileBodySchema,
    summary: 'Import products',
    description: `Starts a task that imports products from a file. Products with a known SKU are updated; all other products are created. Fields that the file does not contain keep their values. The stock is set only for new products. The result file lists each rejected line and why it was rejected. Also requires the \`products.write\` scope. ${importFileLimitsText}`,
    responses: {
      202: taskSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...fileUploadProblemCodes, ...idempotencyProblemCodes, ...taskCreationProblemCodes),
    },
    metadata: declareRouteMetadata({
      operationId: 'productImports.create',
      access: ['tasks.write'],
      idempotent: true,
      ...importFileRouteMetadata,
    }),
  },
});
