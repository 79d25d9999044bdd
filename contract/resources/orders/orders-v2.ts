/** Orders as version 2 has them: where the goods go and how they get there are two things. Everything else is version 1's. */
import { initContract } from '@ts-rest/core';
import type { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { deliveryMethodCode } from './delivery-methods.ts';
import { delivery, deliveryInput, order, orderCreate, orders, orderSummary, orderUpdate } from './orders.ts';
import { page } from '../../schema/pagination.ts';

const c = initContract();

const shippingMethod = deliveryMethodCode.describe('Code of the delivery method.');

const asAnswered = {
  shipping_method: shippingMethod,
  shipping_address: component('ShippingAddress', delivery.omit({ method: true })),
};
const asSent = {
  shipping_method: shippingMethod,
  shipping_address: component('ShippingAddressInput', deliveryInput.omit({ method: true })),
};

const orderV2 = component('Order', order.omit({ delivery: true }).extend(asAnswered));
const orderSummaryV2 = component('OrderSummary', orderSummary.omit({ delivery: true }).extend(asAnswered).describe('An order in a list.'));
const orderCreateV2 = component('OrderCreate', orderCreate.omit({ delivery: true }).extend(asSent));
const orderUpdateV2 = component(
  'OrderUpdate',
  orderUpdate.omit({ delivery: true }).extend({
    shipping_method: asSent.shipping_method.describe('May change where its price does not.').optional(),
    shipping_address: asSent.shipping_address.optional(),
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
