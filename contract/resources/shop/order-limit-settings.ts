import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import {
  nullableSpendingLimitsInputSchema,
  nullableSpendingLimitsSchema,
} from '../../protocol/order-limit-and-authorization-details-schemas.ts';
import { nullableProductLimitsInputSchema, nullableProductLimitsSchema } from '../../protocol/order-product-limits.ts';
import {
  bodyProblemCodes,
  commonProblemTypes,
  declareProblemResponses,
  ifMatchFailureCodes,
  problemCodesOfAuthorizedOperations,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, ifMatchHeadersSchema, ifNoneMatchHeadersSchema } from '../../protocol/route-metadata.ts';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';

const c = initContract();

const fails = declareProblemResponses(commonProblemTypes);

const descriptions = {
  maximum_limits:
    'Highest limits that customers can set for a third-party application (one that the shop does not operate); `null` means no maximum. The maximum also applies to existing grants, starting with the next request.',
  default_limits:
    'Limits that the consent page proposes if a third-party application requests no limits; `null` means no limits. Customers can change these limits, but cannot exceed the maximum that the shop sets in `maximum_limits`.',
  maximum_products:
    'Product categories from which customers can allow a third-party application to order; `null` means all products. This restriction also applies to existing grants, starting with the next request.',
  default_products:
    'Products that the consent page proposes if a third-party application requests no limits; `null` means all products. Customers can change this selection, but can select only products that the shop permits in `maximum_products`.',
};

export const orderLimitSettingsSchema = withSchemaName(
  'OrderLimitSettings',
  z.object({
    maximum_limits: nullableSpendingLimitsSchema.describe(descriptions.maximum_limits),
    maximum_products: nullableProductLimitsSchema.describe(descriptions.maximum_products),
    default_limits: nullableSpendingLimitsSchema.describe(descriptions.default_limits),
    default_products: nullableProductLimitsSchema.describe(descriptions.default_products),
    version: z.number().int().min(1).describe('Version number, incremented on every change.'),
  }),
);

export const orderLimitSettingsUpdateSchema = withSchemaName(
  'OrderLimitSettingsUpdate',
  z
    .object({
      maximum_limits: nullableSpendingLimitsInputSchema.describe(descriptions.maximum_limits).optional(),
      maximum_products: nullableProductLimitsInputSchema.describe(descriptions.maximum_products).optional(),
      default_limits: nullableSpendingLimitsInputSchema.describe(descriptions.default_limits).optional(),
      default_products: nullableProductLimitsInputSchema.describe(descriptions.default_products).optional(),
    })
    .strict(),
);

export const orderLimitSettingsRoutes = defineResource(
  'Order limit settings',
  'Limits for orders placed by applications that the shop does not operate.',
  {
    get: {
      method: 'GET',
      path: '/order-limit-settings',
      headers: ifNoneMatchHeadersSchema,
      summary: 'Get the order limit settings',
      description:
        'Returns the default and maximum limits for applications that the shop does not operate. Requires an administrator account.',
      responses: { 200: orderLimitSettingsSchema, 304: c.noBody(), ...fails(...problemCodesOfAuthorizedOperations) },
      metadata: declareRouteMetadata({ operationId: 'orderLimitSettings.get', access: ['applications.manage'] }),
    },
    update: {
      method: 'PATCH',
      path: '/order-limit-settings',
      headers: ifMatchHeadersSchema,
      body: orderLimitSettingsUpdateSchema,
      summary: 'Update the order limit settings',
      description:
        'Replaces each given field as a whole. Omitted fields keep their values. The defaults must not exceed the maximums. Changes apply from the next request onward. Requires an administrator account.',
      responses: {
        200: orderLimitSettingsSchema,
        ...fails(...problemCodesOfAuthorizedOperations, ...bodyProblemCodes, ...ifMatchFailureCodes),
      },
      metadata: declareRouteMetadata({ operationId: 'orderLimitSettings.update', access: ['applications.manage'] }),
    },
  },
);

export type OrderLimitSettings = z.output<typeof orderLimitSettingsSchema>;
export type OrderLimitSettingsUpdate = z.output<typeof orderLimitSettingsUpdateSchema>;
