import type { z } from 'zod';
import { maxCountedTotal, type contract, type QuoteStatus } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { countEntitiesUpToMaxPlusOne } from '../database/queries/count-rows-up-to-limit.sql.ts';
import { createKeysetPageFilter } from '../http/response/keyset-page-filter.ts';
import type { KeysetPosition } from '../http/response/pagination.ts';
import { rejectReversedTimeRange } from '../http/response/time-range-and-total-count.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { authorizeAndGetListedUserAndClient } from '../orders/authorize-and-get-listed-user-and-client.ts';
import { Quote } from './quote-and-quote-reservation.entity.ts';

export type QuoteListQuery = z.output<(typeof contract.quotes.list)['query']>;

/** Returns the filter for the quotes that a list request selects. Throws an error if the caller may not list these quotes. */
export function authorizeAndBuildListedQuotesFilter(principal: Principal, query: QuoteListQuery, now: Date) {
  rejectReversedTimeRange(query, 'created_at_gte', 'created_at_lt');
  const { userId, requiredClientId } = authorizeAndGetListedUserAndClient(principal, query.user_id);
  const { created_at_gte: from, created_at_lt: until } = query;
  return {
    $and: [
      ...(userId === undefined ? [] : [{ user: userId }]),
      ...(requiredClientId === undefined ? [] : [{ clientId: requiredClientId }]),
      ...(query.client_id === undefined ? [] : [{ clientId: query.client_id }]),
      ...(query.status === undefined ? [] : [{ $or: query.status.map((status) => statusFilter(status, now)) }]),
      ...(from === undefined ? [] : [{ createdAt: { $gte: new Date(from) } }]),
      ...(until === undefined ? [] : [{ createdAt: { $lt: new Date(until) } }]),
    ],
  };
}
type QuoteFilter = ReturnType<typeof authorizeAndBuildListedQuotesFilter>;

function statusFilter(status: QuoteStatus, now: Date) {
  switch (status) {
    case 'converted':
      return { order: { $ne: null } };
    case 'canceled':
      return { canceledAt: { $ne: null } };
    case 'expired':
      return { order: null, canceledAt: null, expiresAt: { $lte: now } };
    default:
      return { order: null, canceledAt: null, expiresAt: { $gt: now } };
  }
}

/** Returns quotes without their items, newest first; more than `limit` rows indicate a next page. */
export function listQuotes(em: EntityManager, filter: QuoteFilter, position: KeysetPosition | undefined, limit: number) {
  const where = { $and: [filter, createKeysetPageFilter('createdAt', position, 'desc')] };
  return em.find(Quote, where, {
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit: limit + 1,
    exclude: ['items'],
    disableIdentityMap: true,
  });
}

/** Counts quotes, up to `maxCountedTotal + 1`. */
export const countQuotes = (em: EntityManager, filter: QuoteFilter): Promise<number> =>
  countEntitiesUpToMaxPlusOne(em, em.createQueryBuilder(Quote).select('id').where(filter), maxCountedTotal);
