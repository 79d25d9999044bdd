import type { Principal } from './principal-and-token-types.ts';

/**
 * Returns the application's client ID if the application can access only the orders that it placed; otherwise undefined. Every query for
 * orders, their payments, refunds, shipments, events and exports filters by this client ID, so that the principal cannot find other orders.
 */
export const getClientIdIfRestrictedToOwnOrders = ({ clientId, orderAuthorization }: Principal): string | undefined =>
  orderAuthorization?.ownOrdersOnly ? clientId : undefined;
