import { initServer } from '@ts-rest/express';
import {
  contractV2,
  type Order,
  type OrderCreate,
  type OrderCreateV2,
  type OrderSummary,
  type OrderSummaryV2,
  type OrderUpdate,
  type OrderUpdateV2,
  type OrderV2,
} from '@mandate/contract';
import { createInvalidRequestProblem, Problem } from '../http/problem-details/problem.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import {
  handleCancelOrder,
  handleCreateOrder,
  handleGetOrder,
  handleListOrders,
  handleUpdateOrder,
  type OrderRepresentation,
} from './order-handlers.ts';

type Shipping = Pick<OrderV2, 'shipping_method' | 'shipping_address'>;

const toShipping = ({ method, ...address }: Order['delivery']): Shipping => ({ shipping_method: method, shipping_address: address });

const toDelivery = ({ shipping_method: method, shipping_address: address }: Shipping): Order['delivery'] => ({ method, ...address });

const v2Representation: OrderRepresentation<OrderSummaryV2, OrderV2> = {
  etagPrefix: 'order-v2',
  toSummary: ({ delivery, ...order }: OrderSummary) => ({ ...order, ...toShipping(delivery) }),
  toOrder: ({ delivery, ...order }: Order) => ({ ...order, ...toShipping(delivery) }),
  toDelivery: toShipping,
};

/** Creates the order handlers of API version 2, which differ from version 1 only in the delivery fields of requests and responses. */
export const orderRoutesV2 = (deps: HandlerDependencies & PaymentHandlerDependencies) => {
  const dependencies = { ...deps, representation: v2Representation };
  return initServer().router(contractV2.orders, {
    create: (request) => translateProblemToV2(handleCreateOrder(dependencies, request, toOrderCreate(request.body))),
    list: (request) => handleListOrders(dependencies, request, request.query),
    get: (request) => handleGetOrder(dependencies, request),
    update: (request) =>
      translateProblemToV2(handleUpdateOrder(dependencies, request, (delivery) => toOrderUpdate(request.body, delivery))),
    cancel: (request) => handleCancelOrder(dependencies, request, request.body),
  });
};

function toOrderCreate({ shipping_method: method, shipping_address: address, ...order }: OrderCreateV2): OrderCreate {
  if (method === undefined && address === undefined) return order;
  if (method === undefined || address === undefined) {
    const pointer = method === undefined ? '#/shipping_method' : '#/shipping_address';
    throw createInvalidRequestProblem({ in: 'body', pointer, code: 'required', detail: 'This field is required.' });
  }
  return { ...order, delivery: toDelivery({ shipping_method: method, shipping_address: address }) };
}

/** Converts a version 2 update. The delivery method and the address can be changed independently. */
function toOrderUpdate(
  { shipping_method: method, shipping_address: address, ...change }: OrderUpdateV2,
  current: Order['delivery'],
): OrderUpdate {
  if (method === undefined && address === undefined) return change;
  const { shipping_method, shipping_address } = toShipping(current);
  return { ...change, delivery: toDelivery({ shipping_method: method ?? shipping_method, shipping_address: address ?? shipping_address }) };
}

const pointers: readonly (readonly [RegExp, string])[] = [
  [/^#\/delivery\/method$/, '#/shipping_method'],
  [/^#\/delivery(?=\/|$)/, '#/shipping_address'],
];
const renamePointer = (text: string): string => pointers.reduce((left, [from, to]) => left.replace(from, to), text);

/** Converts the error locations of a rejected request to version 2 field names. */
async function translateProblemToV2<Result>(response: Promise<Result>): Promise<Result> {
  try {
    return await response;
  } catch (error) {
    if (!(error instanceof Problem) || !error.errors) throw error;
    const errors = error.errors.map((entry) => ({
      ...entry,
      ...(entry.pointer !== undefined && { pointer: renamePointer(entry.pointer) }),
    }));
    if (error.code === 'invalid_request') throw createInvalidRequestProblem(...errors);
    const { detail } = error;
    throw new Problem(error.code, { errors, headers: error.headers, cause: error.cause, ...(detail !== undefined && { detail }) });
  }
}
