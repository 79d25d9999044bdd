import { LockMode } from '@mikro-orm/core';
import type { Quote as QuoteBody } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { readDatabaseTime } from '../database/time/read-database-time.sql.ts';
import { recordEvent } from '../events/record-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { buildAccessibleOrdersFilter } from '../orders/check-order-access-and-build-filters.ts';
import { getQuoteStatus, quoteFromEntity, quoteFromEntityForEvent } from './quote-from-entity.ts';
import { Quote } from './quote-and-quote-reservation.entity.ts';
import { releaseStockReservedByQuotes } from './reserve-and-release-stock.ts';

/**
 * Cancels an open quote and releases its reserved stock.
 * @throws {Problem} `not_found` if the quote does not exist or the principal may not access it; `invalid_transition` if the quote is not
 * open
 */
export async function cancelQuote(em: EntityManager, principal: Principal, id: number): Promise<QuoteBody> {
  const where = { id, ...buildAccessibleOrdersFilter(principal, 'orders.manage') };
  const quote = await em.findOne(Quote, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!quote) throw createProblem('not_found', { detail: translatable`Quote ${{ id }} was not found.` });
  const now = await readDatabaseTime(em);
  const status = getQuoteStatus(quote, now);
  if (status !== 'open')
    throw createProblem('invalid_transition', { detail: translatable`The quote is ${{ status }}, so it cannot be canceled.` });
  quote.canceledAt = now;
  await em.flush();
  if (quote.hold) await releaseStockReservedByQuotes(em, [id]);
  await recordEvent(em, 'quote.canceled', quoteFromEntityForEvent(quote, now), quote.user.id);
  return quoteFromEntity(quote, principal, now);
}
