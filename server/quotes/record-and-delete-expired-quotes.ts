import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { DeleteExpiredRows } from '../database/queries/prepare-batch-deletion-of-expired-rows.ts';
import { recordEvent } from '../events/record-event.ts';
import { quoteFromEntityForEvent } from './quote-from-entity.ts';
import { Quote } from './quote-and-quote-reservation.entity.ts';
import { releaseStockReservedByQuotes } from './reserve-and-release-stock.ts';

const batchMax = 200;
const deletionBatchMax = 1_000;

/** Records an event for each expired quote and releases its reserved stock. Returns the number of expired quotes. */
export async function recordExpiredQuotesAndReleaseStock(em: EntityManager, now: Date): Promise<number> {
  let expiredCount = 0;
  for (let batch = batchMax; batch === batchMax; expiredCount += batch)
    batch = await em.fork().transactional((inner) => reportBatch(inner, now));
  return expiredCount;
}

async function reportBatch(em: EntityManager, now: Date): Promise<number> {
  const isUnreported = { expiresAt: { $lte: now }, order: null, canceledAt: null, expirationReportedAt: null };
  // Quotes that another transaction is changing are skipped; the next run checks them again.
  const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true } as const;
  const quotes = await em.find(Quote, isUnreported, { orderBy: { expiresAt: 'asc' }, limit: batchMax, ...skipLocked });
  for (const quote of quotes) quote.expirationReportedAt = now;
  await em.flush();
  const ids = quotes.filter(({ hold }) => hold).map(({ id }) => id);
  if (ids.length > 0) await releaseStockReservedByQuotes(em, ids);
  for (const quote of quotes) await recordEvent(em, 'quote.expired', quoteFromEntityForEvent(quote, now), quote.user.id);
  return quotes.length;
}

/** Number of days for which quotes from which no order was placed are kept after they expire. */
export const unorderedQuoteRetentionDays = 90;

/** Deletes a batch of quotes from which no order was placed. Quotes from which an order was placed are kept, like the orders themselves. */
export const deleteOldUnorderedQuotesBatch: DeleteExpiredRows = (em, now) =>
  em.transactional(async (inner) => {
    const isOld = {
      order: null,
      expiresAt: { $lt: new Date(now.getTime() - unorderedQuoteRetentionDays * 24 * 60 * 60 * 1000) },
      $or: [{ canceledAt: { $ne: null } }, { expirationReportedAt: { $ne: null } }],
    };
    const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, fields: ['id'], disableIdentityMap: true } as const;
    const quotes = await inner.find(Quote, isOld, { orderBy: { expiresAt: 'asc' }, limit: deletionBatchMax, ...skipLocked });
    return quotes.length === 0 ? 0 : inner.nativeDelete(Quote, { id: { $in: quotes.map(({ id }) => id) } });
  });
