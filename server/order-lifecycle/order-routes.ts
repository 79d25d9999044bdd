import { initServer } from '@ts-rest/express';
import { contract, type Order, type OrderSummary } from '@mandate/contract';
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

const v1Representation: OrderRepresentation<OrderSummary, Order> = {
  etagPrefix: 'order',
  toSummary: (order) => order,
  toOrder: (order) => order,
  toDelivery: (delivery) => ({ delivery }),
};

export const orderRoutes = (deps: HandlerDependencies & PaymentHandlerDependencies) => {
  const dependencies = { ...deps, representation: v1Representation };
  return initServer().router(contract.orders, {
    create: (request) => handleCreateOrder(dependencies, request, request.body),
    list: (request) => handleListOrders(dependencies, request, request.query),
    get: (request) => handleGetOrder(dependencies, request),
    update: (request) => handleUpdateOrder(dependencies, request, () => request.body),
    cancel: (request) => handleCancelOrder(dependencies, request, request.body),
  });
};
