import type { Quote, QuoteStatus, QuoteSummary } from '@mandate/contract';
import { getClientIdIfRestrictedToOwnOrders } from '../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import type { QuoteEntity } from './quote-and-quote-reservation.entity.ts';

/** The columns of a quote except its items, without the symbol properties that MikroORM adds. */
type QuoteWithoutItems = Omit<QuoteEntity, 'items' | symbol>;

type QuoteDates = Pick<QuoteEntity, 'convertedAt' | 'canceledAt' | 'expiresAt'>;

/** Returns a quote's status at the given time. */
export function getQuoteStatus({ convertedAt, canceledAt, expiresAt }: QuoteDates, now: Date): QuoteStatus {
  if (convertedAt) return 'converted';
  if (canceledAt) return 'canceled';
  return expiresAt <= now ? 'expired' : 'open';
}

/**
 * Returns a quote without its items. The limits are included only if the principal uses the grant to which the limits belong, so that an
 * application does not learn the limits of another application.
 */
export const quoteSummaryFromEntity = (quote: QuoteWithoutItems, principal: Principal | null, now: Date): QuoteSummary => ({
  id: quote.id,
  status: getQuoteStatus(quote, now),
  client_id: quote.clientId,
  user_id: quote.user.id,
  currency: quote.currency,
  tax_mode: quote.taxMode,
  subtotal: quote.subtotal,
  discount_total: quote.discountTotal,
  shipping_total: quote.shippingTotal,
  tax_total: quote.taxTotal,
  total: quote.total,
  item_count: quote.itemCount,
  delivery: quote.delivery,
  reference: quote.reference ?? null,
  note: quote.note ?? null,
  metadata: quote.metadata,
  hold: quote.hold,
  is_available: quote.isAvailable,
  limits: principal?.grantId !== undefined && principal.grantId === quote.grantId ? (quote.limits ?? null) : null,
  order_id: canAccessOrder(quote, principal) ? (quote.order?.id ?? null) : null,
  version: quote.version,
  expires_at: quote.expiresAt.toISOString(),
  created_at: quote.createdAt.toISOString(),
  updated_at: quote.updatedAt.toISOString(),
  converted_at: quote.convertedAt?.toISOString() ?? null,
  canceled_at: quote.canceledAt?.toISOString() ?? null,
});

/** Returns false if the principal may access only its own orders, and another application placed the order from this quote. */
function canAccessOrder({ orderClientId }: QuoteWithoutItems, principal: Principal | null): boolean {
  const requiredClientId = principal ? getClientIdIfRestrictedToOwnOrders(principal) : undefined;
  return requiredClientId === undefined || orderClientId === requiredClientId;
}

export const quoteFromEntity = (quote: QuoteEntity, principal: Principal | null, now: Date): Quote => ({
  ...quoteSummaryFromEntity(quote, principal, now),
  items: quote.items,
});

/** Returns the representation of a quote in events, which other applications of the customer can receive. */
export const quoteFromEntityForEvent = (quote: QuoteEntity, now: Date): Quote => quoteFromEntity(quote, null, now);
