import { initServer } from '@ts-rest/express';
import { contract, type Order, type OrderSummary } from '@mandate/contract';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import { type OrderRepresentation, createOrderHandlers } from './order-handlers.ts';

const v1Representation: OrderRepresentation<OrderSummary, Order> = {
  etagPrefix: 'order',
  toSummary: (order) => order,
  toOrder: (order) => order,
  toDelivery: (delivery) => ({ delivery }),
};

export const orderRoutes = (deps: HandlerDependencies & PaymentHandlerDependencies) => {
  const { create, list, get, update, cancel } = createOrderHandlers(deps, v1Representation);
  return initServer().router(contract.orders, {
    create: (args) => create(args, args.body),
    list: (args) => list(args, args.query),
    get,
    update: (args) => update(args, () => args.body),
    cancel: (args) => cancel(args, args.body),
  });
};
