import { expect, expectTypeOf, test } from 'vitest';
import type * as contract from '@mandate/contract';
import type * as sdk from '@mandate/client-sdk';
import { createClient, type ApiError } from '@mandate/client-sdk';
import type { z } from 'zod';
import type { orderExportCreate } from '../../../contract/resources/tasks/order-exports.ts';
import type { orderCreate } from '../../../contract/resources/orders/orders.ts';
import type { productCreate, productUpdate, stockAdjustmentCreate } from '../../../contract/resources/products/products.ts';
import type { userCreate } from '../../../contract/resources/access/users.ts';

/** Each can be given where the other is expected. */
type Same<A, B> = [Plain<A>] extends [Plain<B>] ? ([Plain<B>] extends [Plain<A>] ? true : false) : false;
/** An optional field is absent in JSON, never `undefined`. */
type Plain<T> = { [Name in keyof T]: Plain<Exclude<T[Name], undefined>> };

test('what the client gives and takes is what the contract’s schemas give and take', () => {
  expectTypeOf<Same<sdk.Order, contract.Order>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.OrderSummary, contract.OrderSummary>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Product, contract.Product>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.User, contract.User>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Payment, contract.Payment>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Refund, contract.Refund>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Shipment, contract.Shipment>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.Task, contract.Task>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.OrderExportCreate, z.input<typeof orderExportCreate>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.DeliveryMethod, contract.DeliveryMethod>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.StockAdjustment, contract.StockAdjustment>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.OrderCreate, z.input<typeof orderCreate>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.ProductCreate, z.input<typeof productCreate>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.ProductUpdate, z.input<typeof productUpdate>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.StockAdjustmentCreate, z.input<typeof stockAdjustmentCreate>>>().toEqualTypeOf<true>();
  expectTypeOf<Same<sdk.UserCreate, z.input<typeof userCreate>>>().toEqualTypeOf<true>();
});

test('the comparison sees a difference', () => {
  expectTypeOf<Same<sdk.Order, sdk.Product>>().toEqualTypeOf<false>();
  expectTypeOf<Same<sdk.OrderCreate, Omit<sdk.OrderCreate, 'delivery'>>>().toEqualTypeOf<false>();
  expectTypeOf<Same<sdk.Product, Omit<sdk.Product, 'stock'> & { stock: number }>>().toEqualTypeOf<false>();
  // @ts-expect-error -- and does not compile when it is claimed that there is none
  expectTypeOf<Same<sdk.Order, sdk.Product>>().toEqualTypeOf<true>();
});

const client = createClient({ baseUrl: 'https://shop.example' });

test('mistakes do not compile', () => {
  const mistakes = [
    // @ts-expect-error -- the order's identifier is missing
    () => client.orders.get(),
    // @ts-expect-error -- a path parameter is a number or a text
    () => client.orders.get({ id: 1 }),
    // @ts-expect-error -- an order needs a delivery
    () => client.orders.create({ items: [] }),
    // @ts-expect-error -- there is no such status
    () => client.orders.list({ status: ['lost'] }),
    // @ts-expect-error -- an import says where the orders come from
    () => client.orderImports.create('reference\n'),
    // @ts-expect-error -- what is perhaps not changed is perhaps not there
    async () => (await client.orders.get(1, { ifNoneMatch: '"1"' })).id,
    // @ts-expect-error -- nothing is created, so no version of it is meant
    () => client.orders.list({}, { ifMatch: '"1"' }),
    // @ts-expect-error -- there is no such method
    () => 'destroy' satisfies keyof typeof client.orders,
  ];
  expect(mistakes).toHaveLength(8);
});

test('the codes of an operation are known', () => {
  type OrderCreateError = sdk.ApiErrorOf<sdk.ProblemsOf['orders.create']>;
  expectTypeOf<Extract<OrderCreateError, { code: 'out_of_stock' }>>().toEqualTypeOf<ApiError<'out_of_stock', 409>>();
  expectTypeOf<Extract<OrderCreateError, { code: 'sku_taken' }>>().toEqualTypeOf<never>();
});

test('a switch over codes tells them apart, refuses mistyped ones, and is never done with those of newer services', async () => {
  const told = async (): Promise<string> => {
    const result = await client.orders.get(1).safe();
    if (result.ok) return result.data.status;
    switch (result.error.code) {
      case 'not_found':
        expectTypeOf(result.error).toEqualTypeOf<ApiError<'not_found', 404>>();
        return result.error.detail;
      // @ts-expect-error -- there is no such code
      case 'not_fuond':
        return '';
      // @ts-expect-error -- not a code of this operation
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
