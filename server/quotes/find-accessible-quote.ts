import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { buildAccessibleOrdersFilter } from '../orders/check-order-access-and-build-filters.ts';
import { Quote, type QuoteEntity } from './quote-and-quote-reservation.entity.ts';

/**
 * Returns a quote, or null if it does not exist or the principal may not access it. The same access rules apply to quotes and orders.
 * Customers can access their own quotes, staff can access all quotes, and an application may be restricted to the quotes that it requested.
 */
export const findAccessibleQuote = (em: EntityManager, principal: Principal, id: number): Promise<QuoteEntity | null> =>
  em.findOne(Quote, { id, ...buildAccessibleOrdersFilter(principal, 'orders.manage') }, { refresh: true });
