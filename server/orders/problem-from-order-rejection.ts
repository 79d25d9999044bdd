import type { OrderInput } from '@mandate/contract';
import { createInvalidRequestProblem, createProblem, type Problem, type ProblemEntry } from '../http/problem-details/problem.ts';
import { translatable, type TranslatableText } from '../http/problem-details/translatable-text.ts';
import { createLimitExceededProblem, type ExceededLimit } from '../order-limits/order-limit-problems.ts';
import { findProblemWithOrderingFromQuote, type QuoteAtRejection } from './find-problem-with-ordering-from-quote.ts';

/** All reasons why the database function rejected an order. The reasons reflect the state of the database at a single point in time. */
export type OrderRejection = {
  unknown_products: number[];
  unavailable_products: number[];
  short: { product_id: number; requested: number; available: number }[];
  currencies: number;
  currency: string | null;
  method: { price: number; currency: string; requires_address: boolean } | null;
  subtotal: number;
  total: number | null;
  active_user: boolean;
  /** The customer's limit that the order exceeds, if any. */
  exceeded: ExceededLimit | null;
  /** The quote for the rejected order, if any. */
  quote: QuoteAtRejection | null;
};

type OrderConflicts = Omit<OrderRejection, 'quote'>;

/** Details of an order, taken from the quote if `quoteId` is set, and otherwise from the request. */
export type OrderInputOrQuoteContent = OrderInput & { readonly quoteId?: number };

/** Returns whether the delivery contains every field that delivery methods can require. */
export const hasCompleteDeliveryAddress = ({ delivery }: OrderInput): boolean =>
  addressFields.every((field) => delivery[field] !== undefined);

const addressFields = ['line1', 'city', 'country'] as const;

/** Converts a rejection into a problem. */
export const problemFromOrderRejection = (rejection: OrderRejection, input: OrderInputOrQuoteContent): Problem =>
  (rejection.quote ? findQuotedOrderProblem(rejection.quote, rejection, input) : findOrderPlacementProblem(rejection, input)) ??
  createProblem('out_of_stock', {
    detail:
      'Some of the requested units have just been sold or reserved. Send the request again; if too few are left, the response will list the available quantities.',
  });

const findQuotedOrderProblem = (quote: QuoteAtRejection, rejection: OrderRejection, input: OrderInputOrQuoteContent): Problem | undefined =>
  findProblemWithOrderingFromQuote(quote, rejection, hasCompleteDeliveryAddress(input)) ??
  productUnavailable(rejection, input) ??
  limitExceeded(rejection, input, '#/quote_id') ??
  (quote.hold ? undefined : outOfStock(rejection, input));

/**
 * Returns the reason why the order in the request cannot be placed, if any. Errors in the request take precedence over conflicts with the
 * current products, limits, stock and prices.
 */
export function findOrderPlacementProblem(rejection: OrderConflicts, input: OrderInputOrQuoteContent): Problem | undefined {
  const errors = [
    ...userErrors(rejection),
    ...itemErrors(rejection, input),
    ...deliveryErrors(rejection, input),
    ...totalErrors(rejection, input),
  ];
  if (errors.length > 0) return createInvalidRequestProblem(...errors.slice(0, 50));
  return (
    productUnavailable(rejection, input) ??
    limitExceeded(rejection, input, '#/items') ??
    outOfStock(rejection, input) ??
    priceChanged(rejection, input)
  );
}

const userErrors = ({ active_user }: OrderConflicts): ProblemEntry[] =>
  active_user ? [] : [{ in: 'body', pointer: '#/user_id', code: 'unknown_reference', detail: 'There is no active user with this ID.' }];

function itemErrors({ unknown_products, currencies }: OrderConflicts, input: OrderInputOrQuoteContent): ProblemEntry[] {
  const unknown = itemEntries(input, unknown_products, (id) => ({
    code: 'unknown_reference',
    detail: translatable`There is no product ${{ id }}.`,
  }));
  if (currencies < 2) return unknown;
  return [
    ...unknown,
    { in: 'body', pointer: '#/items', code: 'currency_mismatch', detail: 'All products in an order must have the same currency.' },
  ];
}

function deliveryErrors({ method, currency, currencies }: OrderConflicts, { delivery }: OrderInputOrQuoteContent): ProblemEntry[] {
  if (!method)
    return [
      {
        in: 'body',
        pointer: '#/delivery/method',
        code: 'unknown_reference',
        detail: 'There is no such delivery method. GET /api/v1/delivery-methods lists the available methods.',
      },
    ];
  const errors: ProblemEntry[] = [];
  if (currencies === 1 && currency !== null && method.currency !== currency) {
    errors.push({
      in: 'body',
      pointer: '#/delivery/method',
      code: 'currency_mismatch',
      detail: translatable`This delivery method is priced in ${{ methodCurrency: method.currency }}, but the products are priced in ${{ currency }}.`,
    });
  }
  const needed = method.requires_address ? addressFields : [];
  for (const field of needed) {
    if (delivery[field] === undefined)
      errors.push({ in: 'body', pointer: `#/delivery/${field}`, code: 'required', detail: 'This delivery method requires an address.' });
  }
  return errors;
}

function totalErrors({ subtotal, total }: OrderConflicts, { discount_total: discount = 0 }: OrderInputOrQuoteContent): ProblemEntry[] {
  const errors: ProblemEntry[] = [];
  if (Math.max(subtotal, total ?? 0) > Number.MAX_SAFE_INTEGER) {
    errors.push({
      in: 'body',
      pointer: '#/items',
      code: 'out_of_range',
      detail: 'The total is larger than 9007199254740991 minor units.',
    });
  }
  if (discount > subtotal) {
    errors.push({
      in: 'body',
      pointer: '#/discount_total',
      code: 'out_of_range',
      detail: translatable`The discount is larger than the subtotal of ${{ subtotal }}.`,
    });
  }
  return errors;
}

function limitExceeded(
  { exceeded, total, currency }: OrderConflicts,
  input: OrderInputOrQuoteContent,
  pointer: string,
): Problem | undefined {
  const findPointers = (productId: number): string[] =>
    itemEntries(input, [productId], () => ({ code: 'limit_exceeded', detail: '' })).flatMap((entry) => entry.pointer ?? []);
  return exceeded ? createLimitExceededProblem(exceeded, total ?? 0, currency ?? '', pointer, findPointers) : undefined;
}

function productUnavailable({ unavailable_products }: OrderConflicts, input: OrderInputOrQuoteContent): Problem | undefined {
  if (unavailable_products.length === 0) return undefined;
  return createProblem('product_unavailable', {
    detail: translatable`Currently not for sale: ${{ products: describeProducts(unavailable_products) }}.`,
    errors: itemEntries(input, unavailable_products, (id) => ({
      code: 'product_unavailable',
      detail: translatable`Product ${{ id }} is not for sale.`,
    })),
  });
}

function outOfStock({ short }: OrderConflicts, input: OrderInputOrQuoteContent): Problem | undefined {
  if (short.length === 0) return undefined;
  const byProduct = new Map(short.map((shortage) => [shortage.product_id, shortage]));
  return createProblem('out_of_stock', {
    detail: translatable`Not enough in stock: ${{ products: describeProducts([...byProduct.keys()]) }}.`,
    errors: itemEntries(input, [...byProduct.keys()], (id) => {
      const { requested = 0, available = 0 } = byProduct.get(id) ?? {};
      return {
        code: 'out_of_stock',
        detail: translatable`${{ requested }} units of product ${{ id }} were ordered, but only ${{ available }} are available.`,
        product_id: id,
        requested,
        available,
      };
    }),
  });
}

function priceChanged({ total }: OrderConflicts, input: OrderInputOrQuoteContent): Problem | undefined {
  if (total === null || input.total === undefined || total === input.total) return undefined;
  return createProblem('price_changed', {
    detail: translatable`The order now costs ${{ total }}, not ${{ expected: input.total }}. Show the customer the new total before you order.`,
    errors: [
      { in: 'body', pointer: '#/total', code: 'price_changed', detail: translatable`The total is now ${{ total }}.`, actual: total },
    ],
  });
}

type EntryDetails = Omit<ProblemEntry, 'in' | 'pointer' | 'parameter'>;

/** Returns one error entry for each order line with one of these products. For a quote, returns one error entry for each product. */
function itemEntries(
  input: OrderInputOrQuoteContent,
  productIds: readonly number[],
  detailsOf: (id: number) => EntryDetails,
): ProblemEntry[] {
  if (input.quoteId !== undefined)
    return productIds.slice(0, 50).map((id) => ({ in: 'body', pointer: '#/quote_id', product_id: id, ...detailsOf(id) }));
  const affected = new Set(productIds);
  return input.items
    .flatMap(({ product_id }, index): ProblemEntry[] =>
      affected.has(product_id) ? [{ in: 'body', pointer: `#/items/${index}/product_id`, ...detailsOf(product_id) }] : [],
    )
    .slice(0, 50);
}

function describeProducts(ids: readonly number[]): TranslatableText {
  const [first = 0] = ids;
  if (ids.length === 1) return translatable`product ${{ id: first }}`;
  const listed = ids.slice(0, 10).join(', ');
  return translatable`products ${{ ids: ids.length > 10 ? `${listed}, ...` : listed }}`;
}
