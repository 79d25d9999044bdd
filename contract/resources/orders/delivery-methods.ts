import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { currencySchema, priceSchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { paginationParametersWithDefaultLimit100, listPageSchema } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthorizedOperations,
  problemCodesOfPublicOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  ifMatchFailureCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, ifMatchHeadersSchema, ifNoneMatchHeadersSchema } from '../../protocol/route-metadata.ts';
import { singleLineInputSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();
const fails = declareProblemResponses(commonProblemTypes);

export const deliveryMethodCodeSchema = z.string().regex(/^[a-z0-9_]{1,32}$/, 'must be 1 to 32 characters from a-z, 0-9 and _');

export const deliveryMethodSchema = withSchemaName(
  'DeliveryMethod',
  z.object({
    code: deliveryMethodCodeSchema.describe('Code that identifies the delivery method in orders.'),
    name: z.string(),
    price: priceSchema.describe('Delivery price, in minor units of `currency`.'),
    currency: currencySchema,
    requires_address: z.boolean().describe('Whether orders with this delivery method must specify `line1`, `city` and `country`.'),
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
  }),
);

export const deliveryMethodReplaceRequestSchema = withSchemaName(
  'DeliveryMethodReplace',
  z
    .object({
      name: singleLineInputSchema(200),
      price: priceSchema.describe('Delivery price, in minor units of `currency`.'),
      currency: currencySchema,
      requires_address: z.boolean().default(true),
    })
    .strict(),
);

const methodPath = z.object({ code: deliveryMethodCodeSchema.describe('Code that identifies the delivery method in orders.') });

export const deliveryMethodRoutes = defineResource('Delivery methods', 'Ways to deliver orders to customers.', {
  list: {
    method: 'GET',
    path: '/delivery-methods',
    query: z.object(paginationParametersWithDefaultLimit100).strict(),
    summary: 'List delivery methods',
    description: 'Returns the delivery methods that new orders can use, cheapest first.',
    responses: {
      200: listPageSchema('DeliveryMethodList', deliveryMethodSchema),
      ...fails(...problemCodesOfPublicOperations, ...cursorProblemCodes),
    },
    metadata: declareRouteMetadata({ operationId: 'deliveryMethods.list', access: 'public' }),
  },
  get: {
    method: 'GET',
    path: '/delivery-methods/:code',
    pathParams: methodPath,
    headers: ifNoneMatchHeadersSchema,
    summary: 'Get a delivery method',
    description: 'Returns a delivery method that new orders can use.',
    responses: { 200: deliveryMethodSchema, 304: c.noBody(), ...fails(...problemCodesOfPublicOperations, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'deliveryMethods.get', access: 'public' }),
  },
  replace: {
    method: 'PUT',
    path: '/delivery-methods/:code',
    pathParams: methodPath,
    headers: ifMatchHeadersSchema.merge(ifNoneMatchHeadersSchema),
    body: deliveryMethodReplaceRequestSchema,
    summary: 'Create or replace a delivery method',
    description: 'To replace an existing delivery method, send its ETag in `If-Match`. Existing orders keep their delivery price.',
    responses: {
      200: deliveryMethodSchema,
      201: deliveryMethodSchema,
      ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, ...ifMatchFailureCodes, 'precondition_required'),
    },
    metadata: declareRouteMetadata({ operationId: 'deliveryMethods.replace', access: ['settings.write'] }),
  },
  delete: {
    method: 'DELETE',
    path: '/delivery-methods/:code',
    pathParams: methodPath,
    headers: ifMatchHeadersSchema,
    summary: 'Delete a delivery method',
    description: 'New orders can no longer use the delivery method. Existing orders do not change.',
    responses: { 204: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations, ...ifMatchFailureCodes, 'not_found') },
    metadata: declareRouteMetadata({ operationId: 'deliveryMethods.delete', access: ['settings.write'] }),
  },
});
export type DeliveryMethod = z.output<typeof deliveryMethodSchema>;
export type DeliveryMethodReplace = z.output<typeof deliveryMethodReplaceRequestSchema>;
