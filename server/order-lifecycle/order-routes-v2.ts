import { initServer } from '@ts-rest/express';
import {
  contractV2,
  type Order,
  type OrderCreateV2,
  type OrderSummary,
  type OrderSummaryV2,
  type OrderUpdate,
  type OrderUpdateV2,
  type OrderV2,
} from '@mandate/contract';
import { Problem } from '../http/problem-details/problem.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import type { PaymentDeps } from '../payments/providers/payment-provider.ts';
import { type OrderForm, orderHandlers } from './order-handlers.ts';

type Shipping = Pick<OrderV2, 'shipping_method' | 'shipping_address'>;

const shippingOf = ({ method, ...address }: Order['delivery']): Shipping => ({ shipping_method: method, shipping_address: address });

const deliveryOf = ({ shipping_method: method, shipping_address: address }: Shipping): Order['delivery'] => ({ method, ...address });

const split: OrderForm<OrderSummaryV2, OrderV2> = {
  tag: 'order-v2',
  summary: ({ delivery, ...order }: OrderSummary) => ({ ...order, ...shippingOf(delivery) }),
  whole: ({ delivery, ...order }: Order) => ({ ...order, ...shippingOf(delivery) }),
  wordsOf: shippingOf,
};

/** Version 2 of orders: the handlers of version 1, with its own words for the delivery on the way in and out. */
export const orderRoutesV2 = (deps: ResourceDeps & PaymentDeps) => {
  const { create, list, get, update, cancel } = orderHandlers(deps, split);
  return initServer().router(contractV2.orders, {
    create: (asked) => inWordsOfV2(create(asked, createOf(asked.body))),
    list: (asked) => list(asked, asked.query),
    get,
    update: (asked) => inWordsOfV2(update(asked, (delivery) => changeOf(asked.body, delivery))),
    cancel: (asked) => cancel(asked, asked.body),
  });
};

const createOf = ({ shipping_method, shipping_address, ...order }: OrderCreateV2) => ({
  ...order,
  delivery: deliveryOf({ shipping_method, shipping_address }),
});

/** What is not named stays: the method may change without the address, and the address without the method. */
function changeOf({ shipping_method: method, shipping_address: address, ...change }: OrderUpdateV2, now: Order['delivery']): OrderUpdate {
  if (method === undefined && address === undefined) return change;
  const { shipping_method, shipping_address } = shippingOf(now);
  return { ...change, delivery: deliveryOf({ shipping_method: method ?? shipping_method, shipping_address: address ?? shipping_address }) };
}

const pointers: readonly (readonly [RegExp, string])[] = [
  [/^#\/delivery\/method$/, '#/shipping_method'],
  [/^#\/delivery(?=\/|$)/, '#/shipping_address'],
];
const renamed = (text: string): string => pointers.reduce((left, [from, to]) => left.replace(from, to), text);

/** What is wrong with a request is said in the words it was sent in. */
async function inWordsOfV2<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Problem) || !error.errors) throw error;
    const errors = error.errors.map((entry) => ({ ...entry, ...(entry.pointer !== undefined && { pointer: renamed(entry.pointer) }) }));
    const detail = error.detail?.replace(/^#\/[^:]*/, renamed);
    throw new Problem(error.code, { errors, headers: error.headers, cause: error.cause, ...(detail !== undefined && { detail }) });
  }
}
