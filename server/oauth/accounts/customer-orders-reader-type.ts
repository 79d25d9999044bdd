import type { Order, OrderSummary } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';

/**
 * Reads the orders that the account pages show. The caller passes an implementation to `createAuthorizationServer`, because the
 * authorization server must not import the shop's code.
 */
export type CustomerOrdersReader = {
  /** Lists a customer's orders, newest first. If `olderThan` is set, lists only orders that are older than the order with this ID. */
  readonly list: (
    em: EntityManager,
    userId: number,
    page: { readonly olderThan: number | undefined; readonly limit: number },
  ) => Promise<readonly OrderSummary[]>;
  /** Returns an order with its lines, or undefined if the customer has no such order. */
  readonly find: (em: EntityManager, userId: number, orderId: number) => Promise<Order | undefined>;
};

export const emptyCustomerOrdersReader: CustomerOrdersReader = { list: async () => [], find: async () => undefined };
