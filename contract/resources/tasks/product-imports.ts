import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { columnsFor, importQuery, upload, uploadLimits, uploadMetadata } from './imports.ts';
import { currency } from '../../schema/money.ts';
import { commonProblems, failuresOf, guarded, withFile, withIdempotencyKey } from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders } from '../../protocol/route-metadata.ts';
import { startingTask, task, taskProblems } from './tasks.ts';
import { foreignName } from '../../schema/text.ts';

const c = initContract();
const fails = failuresOf({ ...commonProblems, ...taskProblems });

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

export const productImports = c.router({
  create: {
    method: 'POST',
    path: '/product-imports',
    headers: idempotencyHeaders,
    query: z
      .object({
        ...importQuery,
        currency: currency.optional().describe('Currency of products whose row has none.'),
        category: foreignName(64).optional().describe('Category of new products whose row has none.'),
        ...columnsFor(productImportFields),
      })
      .strict(),
    body: upload,
    summary: 'Import products',
    description: `Starts a task that creates the products in a file and updates those whose SKU exists. Fields that the file does not contain keep their values. Stock is set for new products only. The result lists the rejected lines with the reasons. Also requires the \`products.write\` scope. ${uploadLimits}`,
    responses: { 202: task, ...fails(...guarded, ...withFile, ...withIdempotencyKey, ...startingTask) },
    metadata: describedBy({ operationId: 'productImports.create', access: ['tasks.write'], idempotent: true, ...uploadMetadata }),
  },
});
