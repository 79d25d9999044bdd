import { createInvalidRequestProblem, createProblem, type Problem, type ProblemEntry } from '../http/problem-details/problem.ts';
import { translatable, type ProblemDetail } from '../http/problem-details/translatable-text.ts';

/** State of a quote at the time when an order from the quote was rejected. */
export type QuoteAtRejection = {
  readonly id: number;
  /** Reason why no order can be placed from the quote; null if the quote is open. */
  readonly ended: 'converted' | 'canceled' | 'expired' | null;
  readonly order_id: number | null;
  readonly expires_at: string;
  readonly hold: boolean;
  /** Unit prices that differ from the quoted prices. The list is empty if only the tax rate has changed. */
  readonly price_changes: readonly { readonly product_id: number; readonly quoted: number; readonly actual: number }[];
  readonly shipping_total: number;
  readonly total: number;
};

type CurrentPrice = {
  readonly active_user: boolean;
  readonly unknown_products: readonly number[];
  readonly unavailable_products: readonly number[];
  readonly currencies: number;
  readonly currency: string | null;
  readonly method: { readonly price: number; readonly currency: string; readonly requires_address: boolean } | null;
  readonly total: number | null;
};

/**
 * Returns the reason why no order can be placed from this quote at the quoted price, if any.
 * @param hasAddress whether the quote contains a complete delivery address
 */
export function findProblemWithOrderingFromQuote(quote: QuoteAtRejection, current: CurrentPrice, hasAddress: boolean): Problem | undefined {
  if (quote.ended !== null) return createEndedQuoteProblem(quote);
  if (!current.active_user) {
    const detail = 'The customer for whom this quote was created is no longer active.';
    return createInvalidRequestProblem({ in: 'body', pointer: '#/quote_id', code: 'unknown_reference', detail });
  }
  const isComplete = current.unknown_products.length === 0 && current.unavailable_products.length === 0;
  const changes = isComplete ? findPriceChanges(quote, current, hasAddress) : [];
  if (changes.length === 0) return undefined;
  return createProblem('price_changed', {
    detail: translatable`Prices have changed since quote ${{ id: quote.id }} was created. Create a new quote, and show the customer the new total before you order.`,
    errors: changes.slice(0, 50),
  });
}

const endedTexts = {
  converted: ({ order_id: id }) => translatable`Order ${{ id: id ?? 0 }} has already been placed from the quote.`,
  canceled: () => 'The quote was canceled.',
  expired: ({ expires_at: at }) => translatable`The quote expired at ${{ at: new Date(at) }}.`,
} as const satisfies Record<string, (quote: QuoteAtRejection) => ProblemDetail>;

function createEndedQuoteProblem(quote: QuoteAtRejection): Problem {
  const { id, ended } = quote;
  const code = ended ?? 'expired';
  const detail = [translatable`No order can be placed from quote ${{ id }}.`, endedTexts[code](quote)];
  return createProblem('quote_not_open', { detail, errors: [{ in: 'body', pointer: '#/quote_id', code, detail }] });
}

type ChangedPrice = { readonly product_id?: number; readonly actual?: number };

const changeEntry = (detail: ProblemDetail, changed: ChangedPrice = {}): ProblemEntry => ({
  in: 'body',
  pointer: '#/quote_id',
  code: 'price_changed',
  detail,
  ...changed,
});

function findPriceChanges(quote: QuoteAtRejection, current: CurrentPrice, hasAddress: boolean): ProblemEntry[] {
  const { method, total, currency, currencies } = current;
  const byProduct = quote.price_changes.toSorted((a, b) => a.product_id - b.product_id);
  const changes = byProduct.map(({ product_id, quoted, actual }) =>
    quoted === actual
      ? changeEntry(translatable`The tax rate of product ${{ id: product_id }} has changed.`, { product_id })
      : changeEntry(translatable`Product ${{ id: product_id }} now costs ${{ actual }}, not ${{ quoted }}.`, { product_id, actual }),
  );
  if (method === null) return [...changes, changeEntry('The delivery method is no longer offered.')];
  if (currencies !== 1 || method.currency !== currency)
    return [...changes, changeEntry('The currency of the products or the delivery has changed.')];
  if (method.requires_address && !hasAddress) changes.push(changeEntry('The delivery method now requires an address.'));
  if (method.price !== quote.shipping_total)
    changes.push(
      changeEntry(translatable`Delivery now costs ${{ actual: method.price }}, not ${{ quoted: quote.shipping_total }}.`, {
        actual: method.price,
      }),
    );
  if (changes.length === 0 && total !== null && total !== quote.total)
    changes.push(changeEntry(translatable`The total is now ${{ total }}, not ${{ quoted: quote.total }}.`, { actual: total }));
  return changes;
}
