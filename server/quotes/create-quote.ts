import {
  defaultStockReservingQuoteSeconds,
  defaultQuoteSeconds,
  maxQuoteHoldSeconds,
  type Order,
  type Quote as QuoteBody,
  type QuoteCreate,
} from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { readDatabaseTime } from '../database/time/read-database-time.sql.ts';
import { recordEvent } from '../events/record-event.ts';
import { createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { findOrderPlacementProblem, type OrderRejection } from '../orders/problem-from-order-rejection.ts';
import { authorizeAndGetBuyerId } from '../orders/authorize-and-get-buyer-id.ts';
import { priceOrder, type OrderPrice } from '../orders/price-and-place-order.ts';
import { User } from '../users/user.entity.ts';
import { quoteFromEntity, quoteFromEntityForEvent } from './quote-from-entity.ts';
import { quoteLimitsFromLimitCheck } from './quote-limits-from-limit-check.ts';
import { Quote, type QuotedLine } from './quote-and-quote-reservation.entity.ts';
import { reserveStock } from './reserve-and-release-stock.ts';

/**
 * Prices an order without placing it, and stores the result. If `hold` is true, reserves the stock until the quote expires.
 * @throws {Problem} if the order could not be placed; insufficient stock and exceeded limits are ignored unless `hold` is true
 */
export async function createQuote(
  em: EntityManager,
  principal: Principal,
  taxMode: Order['tax_mode'],
  input: QuoteCreate,
): Promise<QuoteBody> {
  assertHoldIsShort(input);
  const userId = authorizeAndGetBuyerId(principal, input);
  const now = await readDatabaseTime(em);
  const { grantId = null, clientId, orderAuthorization } = principal;
  const price = await priceOrder(em, taxMode, { userId, clientId, grantId, isLimited: orderAuthorization !== undefined }, input);
  const problem = findOrderPlacementProblem(withoutReasonsOnlyForHold(price, input), input);
  if (problem) throw problem;
  const quote = em.create(Quote, {
    user: em.getReference(User, userId),
    clientId,
    grantId,
    ...amountsFromPrice(price),
    taxMode,
    discountTotal: input.discount_total ?? 0,
    items: quotedLinesFromPrice(price, input),
    delivery: input.delivery,
    reference: input.reference ?? null,
    note: input.note ?? null,
    metadata: input.metadata,
    hold: input.hold,
    limits: price.limitCheck && quoteLimitsFromLimitCheck(price.limitCheck, price.total ?? 0),
    expiresAt: new Date(now.getTime() + validitySeconds(input) * 1000),
    createdAt: now,
    updatedAt: now,
  });
  await em.flush();
  if (input.hold) await reserveStock(em, quote.id, sumQuantities(input));
  const created = await em.findOneOrFail(Quote, { id: quote.id }, { refresh: true });
  await recordEvent(em, 'quote.created', quoteFromEntityForEvent(created, now), userId);
  return quoteFromEntity(created, principal, now);
}

const validitySeconds = ({ hold, expires_in: seconds }: QuoteCreate): number =>
  seconds ?? (hold ? defaultStockReservingQuoteSeconds : defaultQuoteSeconds);

function assertHoldIsShort(input: QuoteCreate): void {
  if (!input.hold || validitySeconds(input) <= maxQuoteHoldSeconds) return;
  const detail = translatable`Must be at most ${{ seconds: maxQuoteHoldSeconds }} if \`hold\` is true.`;
  throw createInvalidRequestProblem({ in: 'body', pointer: '#/expires_in', code: 'out_of_range', detail });
}

/**
 * Returns the reasons why the quote cannot be created. Insufficient stock and exceeded limits are reasons only if the quote reserves the
 * stock.
 */
function withoutReasonsOnlyForHold({ limitCheck, ...conflicts }: OrderPrice, { hold }: QuoteCreate): Omit<OrderRejection, 'quote'> {
  const limit = limitCheck?.limit ?? null;
  return {
    ...conflicts,
    short: hold ? conflicts.short : [],
    exceeded: hold && limitCheck && limit !== null ? { ...limitCheck, limit } : null,
  };
}

/** Returns the total quantity of each product. */
function sumQuantities({ items }: QuoteCreate): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const { product_id: id, quantity } of items) sums.set(id, (sums.get(id) ?? 0) + quantity);
  return sums;
}

function amountsFromPrice({ currency, subtotal, method, price, total }: OrderPrice) {
  if (currency === null || method === null || total === null) throw new Error('the order has no price');
  return { currency, subtotal, shippingTotal: method.price, taxTotal: price.tax, total };
}

function quotedLinesFromPrice({ price }: OrderPrice, input: QuoteCreate): QuotedLine[] {
  const { skus, names, unit_prices: prices, tax_rates: rates, taxes, totals, stock } = price;
  const sums = sumQuantities(input);
  return input.items.map(({ product_id: id, quantity }, index) => ({
    line: index + 1,
    product_id: id,
    sku: skus?.[index] ?? '',
    name: names?.[index] ?? '',
    unit_price: prices?.[index] ?? 0,
    quantity,
    tax_rate_bps: rates?.[index] ?? 0,
    tax: taxes?.[index] ?? 0,
    total: totals?.[index] ?? 0,
    is_available: (stock[id] ?? Infinity) >= (sums.get(id) ?? 0),
    available_quantity: stock[id] ?? null,
  }));
}
