/** Orders in version 2, which separates the delivery method from the delivery address. Everything else is the same as in version 1. */
import { initContract } from '@ts-rest/core';
import type { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { deliveryMethodCode } from './delivery-methods.ts';
import { delivery, deliveryInput, order, orderCreate, orders, orderSummary, orderUpdate } from './orders.ts';
import { page } from '../../schema/pagination.ts';

const c = initContract();

const shippingMethod = deliveryMethodCode.describe('Code of the delivery method.');

const responseFields = {
  shipping_method: shippingMethod,
  shipping_address: component('ShippingAddress', delivery.omit({ method: true })),
};
const requestFields = {
  shipping_method: shippingMethod,
  shipping_address: component('ShippingAddressInput', deliveryInput.omit({ method: true })),
};

const orderV2 = component('Order', order.omit({ delivery: true }).extend(responseFields));
const orderSummaryV2 = component(
  'OrderSummary',
  orderSummary
    .omit({ delivery: true })
    .extend(responseFields)
    .describe('An order in a list. Its lines are included only with `include=items`.'),
);
const orderCreateV2 = component('OrderCreate', orderCreate.omit({ delivery: true }).extend(requestFields));
const orderUpdateV2 = component(
  'OrderUpdate',
  orderUpdate.omit({ delivery: true }).extend({
    shipping_method: requestFields.shipping_method
      .describe('Code of the delivery method. It can only be changed to a method with the same price.')
      .optional(),
    shipping_address: requestFields.shipping_address.optional(),
  }),
);

export const ordersV2 = c.router({
  create: { ...orders.create, body: orderCreateV2, responses: { ...orders.create.responses, 201: orderV2 } },
  list: { ...orders.list, responses: { ...orders.list.responses, 200: page('OrderPage', orderSummaryV2) } },
  get: { ...orders.get, responses: { ...orders.get.responses, 200: orderV2 } },
  update: { ...orders.update, body: orderUpdateV2, responses: { ...orders.update.responses, 200: orderV2 } },
  cancel: { ...orders.cancel, responses: { ...orders.cancel.responses, 201: orderV2 } },
});
export type OrderV2 = z.output<typeof orderV2>;
export type OrderSummaryV2 = z.output<typeof orderSummaryV2>;
export type OrderCreateV2 = z.output<typeof orderCreateV2>;
export type OrderUpdateV2 = z.output<typeof orderUpdateV2>;
