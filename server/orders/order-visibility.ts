import type { Scope } from '@mandate/contract';
import { may } from '../http/middleware/authorize.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';

/** A customer has their own orders; staff with this scope have everybody's, or one customer's. */
export function whoseOrders(principal: Principal, asked: number | undefined, everybodysScope: Scope = 'orders.manage'): number | undefined {
  if (may(principal, everybodysScope)) return asked;
  const own = principal.user?.id;
  if (own === undefined)
    throw problem('forbidden', { detail: `This token acts for no person, and lacks \`${everybodysScope}\` to see the orders of others.` });
  if (asked !== undefined && asked !== own)
    throw problem('forbidden', { detail: `The orders of others need \`${everybodysScope}\` and a member of staff.` });
  return own;
}
