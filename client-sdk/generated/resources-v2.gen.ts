// Written by codegen/generate.ts from the OpenAPI document of the contract. Do not edit.

import type { Call, CallOptions, DryRun, IfMatch, IfNoneMatch } from '../core/call.ts';
import type { PagedCall } from '../core/paged-call.ts';
import type { ProblemsOf } from './routes-v2.gen.ts';
import type { components, operations } from './types-v2.gen.ts';

export type Order = components['schemas']['Order'];
export type OrderCancellation = components['schemas']['OrderCancellation'];
export type OrderCreate = components['schemas']['OrderCreate'];
export type OrderItem = components['schemas']['OrderItem'];
export type OrderItemCreate = components['schemas']['OrderItemCreate'];
export type OrderPage = components['schemas']['OrderPage'];
export type OrderSummary = components['schemas']['OrderSummary'];
export type OrderUpdate = components['schemas']['OrderUpdate'];
export type Problem = components['schemas']['Problem'];
export type ProblemEntry = components['schemas']['ProblemEntry'];
export type ShippingAddress = components['schemas']['ShippingAddress'];
export type ShippingAddressInput = components['schemas']['ShippingAddressInput'];

/** What is `undefined` is left out. */
type Query<Id extends keyof operations> = { [Name in keyof QueryOf<Id>]: QueryOf<Id>[Name] | undefined };
type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

export type OrdersListQuery = Query<'orders.list'>;

export interface OrdersResource {
  /**
   * Place an order.
   * Takes the stock and fixes the prices at once. The order then waits for payment until `expires_at`. Send an `Idempotency-Key`, so that a repeated request does not order twice.
   * Needs the scope `orders.write` or `orders.manage`.
   */
  create(body: OrderCreate, options?: CallOptions & DryRun): Call<Order, ProblemsOf['orders.create']>;
  /**
   * List orders.
   * The orders of the current user; every order, for a member of staff with `orders.manage`. Order lines are returned by `include=items`, and with the single order.
   * Needs the scope `orders.read` or `orders.manage`.
   */
  list(query?: OrdersListQuery, options?: CallOptions): PagedCall<OrderPage, ProblemsOf['orders.list']>;
  /**
   * Get an order.
   * Needs the scope `orders.read` or `orders.manage`.
   */
  get(orderId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<Order | undefined, ProblemsOf['orders.get']>;
  /**
   * Get an order.
   * Needs the scope `orders.read` or `orders.manage`.
   */
  get(orderId: number | string, options?: CallOptions): Call<Order, ProblemsOf['orders.get']>;
  /**
   * Change an order.
   * A merge patch (RFC 7396) of what does not change the price. The delivery can change until something is shipped; by the customer only while the order is pending.
   * Needs the scope `orders.write` or `orders.manage`.
   */
  update(orderId: number | string, body: OrderUpdate, options?: CallOptions & IfMatch): Call<Order, ProblemsOf['orders.update']>;
  /**
   * Cancel an order.
   * While nothing is shipped. The goods go back into stock, and what was paid is paid back.
   * Needs the scope `orders.write` or `orders.manage`.
   */
  cancel(orderId: number | string, body: OrderCancellation, options?: CallOptions & DryRun): Call<Order, ProblemsOf['orders.cancel']>;
}

/** The methods of the client, by resource. */
export interface Resources {
  readonly orders: OrdersResource;
}
