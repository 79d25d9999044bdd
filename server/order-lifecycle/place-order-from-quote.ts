import { recordEventsIfQuoteApprovalWasUsed } from '../approvals/record-events-if-quote-approval-was-used.ts';
import type { RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import type { IdempotencyKeyClaim, StoredIdempotentResponse } from '../http/writes/idempotency.ts';
import { placeOrder, type OrderBuyer, type PlacementOptions } from '../orders/price-and-place-order.ts';
import type { OrderInputOrQuoteContent } from '../orders/problem-from-order-rejection.ts';
import { quoteFromEntityForEvent } from '../quotes/quote-from-entity.ts';
import { Quote } from '../quotes/quote-and-quote-reservation.entity.ts';

/**
 * Places an order from a quote. The same transaction records that the quote was converted and that its approval, if any, was used. The
 * statement that places the order locks the quote, so that at most one order is placed from it.
 */
export function placeOrderFromQuote(
  em: EntityManager,
  claim: IdempotencyKeyClaim,
  options: PlacementOptions,
  buyer: OrderBuyer,
  input: OrderInputOrQuoteContent & { readonly quoteId: number },
  source: RequestSource,
): Promise<StoredIdempotentResponse> {
  return em.transactional(async (inner) => {
    const stored = await placeOrder(inner, claim, options, buyer, input);
    if (!stored) return undefined;
    const quote = await inner.findOneOrFail(Quote, { id: input.quoteId }, { refresh: true });
    await recordEventsIfQuoteApprovalWasUsed(inner, input.quoteId, source);
    await recordEvent(inner, 'quote.converted', quoteFromEntityForEvent(quote, new Date()), buyer.userId);
    return stored;
  });
}
