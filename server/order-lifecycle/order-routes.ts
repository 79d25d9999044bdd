import { initServer } from '@ts-rest/express';
import { contract, type Order, type OrderSummary } from '@mandate/contract';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import type { PaymentDeps } from '../payments/providers/payment-provider.ts';
import { type OrderForm, orderHandlers } from './order-handlers.ts';

const asItIs: OrderForm<OrderSummary, Order> = {
  tag: 'order',
  summary: (order) => order,
  whole: (order) => order,
  wordsOf: (delivery) => ({ delivery }),
};

export const orderRoutes = (deps: ResourceDeps & PaymentDeps) => {
  const { create, list, get, update, cancel } = orderHandlers(deps, asItIs);
  return initServer().router(contract.orders, {
    create: (asked) => create(asked, asked.body),
    list: (asked) => list(asked, asked.query),
    get,
    update: (asked) => update(asked, () => asked.body),
    cancel: (asked) => cancel(asked, asked.body),
  });
};
