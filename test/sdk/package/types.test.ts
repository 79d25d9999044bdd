import { expect, expectTypeOf, test } from 'vitest';
import type * as contract from '@mandate/contract';
import type * as sdk from '@mandate/client-sdk';
import { createClient, type ApiError } from '@mandate/client-sdk';
import { followEvents, type EventOf } from '@mandate/client-sdk/webhooks';
import type { z } from 'zod';
import type { orderExportCreateSchema } from '../../../contract/resources/tasks/order-exports.ts';
import type { orderCreateSchema } from '../../../contract/resources/orders/order-create-schema.ts';
import type { quoteCreateSchema } from '../../../contract/resources/orders/quotes.ts';
import type { productCreateSchema, productUpdateSchema } from '../../../contract/resources/products/products.ts';
import type { stockAdjustmentCreateSchema } from '../../../contract/resources/products/stock-adjustment-schemas.ts';
import type { userCreateSchema } from '../../../contract/resources/access/users.ts';

/** Whether the types are assignable to each other. */
type Same<A, B> = [Plain<A>] extends [Plain<B>] ? ([Plain<B>] extends [Plain<A>] ? true : false) : false;
/** Removes `undefined` from optional fields, because JSON cannot contain it. */
type Plain<T> = { [Name in keyof T]: Plain<Exclude<T[Name], undefined>> };

test('the types of the client equal the types of the contract schemas', () => {
  expectTypeOf<Same<sdk.Order, contract.Order>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.OrderSummary, contract.OrderSummary>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Product, contract.Product>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.User, contract.User>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Payment, contract.Payment>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Refund, contract.Refund>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Shipment, contract.Shipment>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Task, contract.Task>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.OrderExportCreate, z.input<typeof orderExportCreateSchema>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.DeliveryMethod, contract.DeliveryMethod>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.StockAdjustment, contract.StockAdjustment>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.OrderCreate, z.input<typeof orderCreateSchema>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Quote, contract.Quote>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.QuoteCreate, z.input<typeof quoteCreateSchema>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.ProductCreate, z.input<typeof productCreateSchema>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.ProductUpdate, z.input<typeof productUpdateSchema>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.StockAdjustmentCreate, z.input<typeof stockAdjustmentCreateSchema>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.UserCreate, z.input<typeof userCreateSchema>>>().toEqualTypeOf<true>();
});

test('the comparison detects a difference', () => {
  expectTypeOf<Same<sdk.Order, sdk.Product>>().toEqualTypeOf<false>();
  expectTypeOf<Same<sdk.QuoteCreate, Omit<sdk.QuoteCreate, 'delivery'>>>().toEqualTypeOf<false>();
  expectTypeOf<Same<sdk.Product, Omit<sdk.Product, 'stock'> & { stock: number }>>().toEqualTypeOf<false>();
  // @ts-expect-error -- claiming that the types are equal does not compile
  expectTypeOf<Same<sdk.Order, sdk.Product>>().toEqualTypeOf<true>();
});

const client = createClient({ baseUrl: 'https://shop.example' });

test('invalid calls do not compile', () => {
  const mistakes = [
    // @ts-expect-error -- the order ID is missing
    () => client.orders.get(),
    // @ts-expect-error -- a path parameter is a number or a string
    () => client.orders.get({ id: 1 }),
    // @ts-expect-error -- a quote requires a delivery
    () => client.quotes.create({ items: [] }),
    // @ts-expect-error -- `lost` is not an order status
    () => client.orders.list({ status: ['lost'] }),
    // @ts-expect-error -- an import requires a source
    () => client.orderImports.create('reference\n'),
    // @ts-expect-error -- a conditional read can return undefined
    async () => (await client.orders.get(1, { ifNoneMatch: '"1"' })).id,
    // @ts-expect-error -- listing orders does not accept `ifMatch`
    () => client.orders.list({}, { ifMatch: '"1"' }),
    // @ts-expect-error -- `client.orders` has no method `destroy`
    () => 'destroy' satisfies keyof typeof client.orders,
  ];
  expect(mistakes).toHaveLength(8);
});

test('the problem codes of an operation are typed', () => {
  type OrderCreateError = sdk.ApiErrorOf<sdk.ProblemsOf['orders.create']>;
  expectTypeOf<Extract<OrderCreateError, { code: 'out_of_stock' }>>().toEqualTypeOf<ApiError<'out_of_stock', 409>>();
  expectTypeOf<Extract<OrderCreateError, { code: 'sku_taken' }>>().toEqualTypeOf<never>();
});

test('a switch over codes narrows the error, rejects misspelled codes and requires a default for newer ones', async () => {
  const told = async (): Promise<string> => {
    const result = await client.orders.get(1).safe();
    if (result.ok) return result.data.status;
    switch (result.error.code) {
      case 'not_found':
        expectTypeOf(result.error).toEqualTypeOf<ApiError<'not_found', 404>>();
        return result.error.detail;
      // @ts-expect-error -- the problem code is misspelled
      case 'not_fuond':
        return '';
      // @ts-expect-error -- `orders.get` does not declare this problem code
      case 'out_of_stock':
        return '';
      case 'timeout':
        return result.error.message;
      default:
        expectTypeOf<sdk.UnknownCode>().toExtend<typeof result.error.code>();
        return result.error.message;
    }
  };
  expect(told).toBeTypeOf('function');
});

test('the type of an event narrows the type of its resource, and does not compile if it is misspelled', () => {
  const readEvents = async (): Promise<unknown> => {
    const { data } = await client.events.list({ type: ['order.*', 'payment.failed'] });
    for (const event of data) {
      switch (event.type) {
        case 'order.paid':
        case 'order.refunded':
          expectTypeOf(event.data.object).toEqualTypeOf<sdk.Order>();
          break;
        case 'payment.failed':
          expectTypeOf(event.data.object).toEqualTypeOf<sdk.Payment>();
          break;
        // @ts-expect-error -- the event type is misspelled
        case 'order.payed':
          break;
        default:
          expectTypeOf<sdk.OtherEvent>().toExtend<typeof event>();
          expectTypeOf(event.subject.id).toBeNumber();
      }
    }
    const { type, data: change } = await client.events.get(1);
    // @ts-expect-error -- without its type, the event can be about any resource
    return type === '' || change.object.total;
  };
  expect(readEvents).toBeTypeOf('function');
});

test('followed events have the same types', () => {
  const followOrders = async (): Promise<unknown> => {
    for await (const event of followEvents(client, { type: ['order.*'] })) {
      expectTypeOf(event).toEqualTypeOf<sdk.Event>();
      if (event.type === 'order.created') return event.data.object.items[0]?.sku;
    }
    return undefined;
  };
  expectTypeOf<EventOf<'task.failed'>['data']['object']>().toEqualTypeOf<sdk.Task>();
  expectTypeOf<EventOf<'order.paid' | 'product.created'>['data']['object']>().toEqualTypeOf<sdk.Order | sdk.Product>();
  expect(followOrders).toBeTypeOf('function');
});
