import { may } from '../http/authorize.ts';
import type { Principal } from '../http/principal.ts';
import { problem } from '../http/problem.ts';

/** A customer has their own orders; staff have everybody's, or one customer's. */
export function whoseOrders(principal: Principal, asked: number | undefined): number | undefined {
  if (may(principal, 'orders.manage')) return asked;
  const own = principal.user?.id;
  if (own === undefined)
    throw problem('forbidden', { detail: 'This token acts for no person, and lacks `orders.manage` to see the orders of others.' });
  if (asked !== undefined && asked !== own)
    throw problem('forbidden', { detail: 'The orders of others need `orders.manage` and a member of staff.' });
  return own;
}

/** Which payment statuses a list is asked for, if the principal may ask. */
export function paymentStatusFor<Status>(principal: Principal, asked: Status): Status {
  if (asked !== undefined && !may(principal, 'orders.manage'))
    throw problem('forbidden', { detail: 'This filter needs `orders.manage` and a member of staff.' });
  return asked;
}
