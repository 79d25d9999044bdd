import type { Principal } from './principal-and-token-types.ts';

/**
 * Returns the client that must have placed every order that the principal accesses, or undefined if the client does not matter. Every query
 * for orders, their payments, refunds, shipments, events and exports contains this condition, so that other orders do not exist for the
 * principal.
 */
export const findRequiredOrderClientId = ({ clientId, orderAuthorization }: Principal): string | undefined =>
  orderAuthorization?.ownOrdersOnly ? clientId : undefined;
