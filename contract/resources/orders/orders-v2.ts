/** Orders in version 2, which separates the delivery method from the delivery address. Everything else is the same as in version 1. */
import { initContract } from '@ts-rest/core';
import type { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { deliveryMethodCodeSchema } from './delivery-methods.ts';
import { orderCreateSchema } from './order-create-schema.ts';
import { orderSchema, orderRoutes, orderSummarySchema, orderUpdateSchema } from './orders.ts';
import { orderDeliveryInputSchema, orderDeliverySchema } from './order-delivery-schemas.ts';
import { listPageSchema } from '../../schema/pagination.ts';

const c = initContract();

const shippingMethod = deliveryMethodCodeSchema.describe('Code of the delivery method.');

const responseFields = {
  shipping_method: shippingMethod,
  shipping_address: withSchemaName('ShippingAddress', orderDeliverySchema.omit({ method: true })),
};
const requestFields = {
  shipping_method: shippingMethod,
  shipping_address: withSchemaName('ShippingAddressInput', orderDeliveryInputSchema.omit({ method: true })),
};

const orderV2 = withSchemaName('Order', orderSchema.omit({ delivery: true }).extend(responseFields));
const orderSummaryV2 = withSchemaName(
  'OrderSummary',
  orderSummarySchema
    .omit({ delivery: true })
    .extend(responseFields)
    .describe('An order in a list. The lines are included only with `include=items`.'),
);
const orderCreateV2 = withSchemaName(
  'OrderCreate',
  orderCreateSchema.omit({ delivery: true }).extend({
    shipping_method: shippingMethod.optional(),
    shipping_address: requestFields.shipping_address.optional(),
  }),
);
const orderUpdateV2 = withSchemaName(
  'OrderUpdate',
  orderUpdateSchema.omit({ delivery: true }).extend({
    shipping_method: requestFields.shipping_method
      .describe('Code of the delivery method, which can only be changed to a method with the same price.')
      .optional(),
    shipping_address: requestFields.shipping_address.optional(),
  }),
);

export const orderRoutesV2 = c.router({
  create: { ...orderRoutes.create, body: orderCreateV2, responses: { ...orderRoutes.create.responses, 201: orderV2 } },
  list: { ...orderRoutes.list, responses: { ...orderRoutes.list.responses, 200: listPageSchema('OrderPage', orderSummaryV2) } },
  get: { ...orderRoutes.get, responses: { ...orderRoutes.get.responses, 200: orderV2 } },
  update: { ...orderRoutes.update, body: orderUpdateV2, responses: { ...orderRoutes.update.responses, 200: orderV2 } },
  cancel: { ...orderRoutes.cancel, responses: { ...orderRoutes.cancel.responses, 201: orderV2 } },
});
export type OrderV2 = z.output<typeof orderV2>;
export type OrderSummaryV2 = z.output<typeof orderSummaryV2>;
export type OrderCreateV2 = z.output<typeof orderCreateV2>;
export type OrderUpdateV2 = z.output<typeof orderUpdateV2>;
