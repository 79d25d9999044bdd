import type { OrderCreate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createInvalidRequestProblem, type ProblemEntry } from '../http/problem-details/problem.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import type { OrderInputOrQuoteContent } from '../orders/problem-from-order-rejection.ts';
import { authorizeAndGetBuyerId } from '../orders/authorize-and-get-buyer-id.ts';
import { findAccessibleQuote } from '../quotes/find-accessible-quote.ts';

type OrderDetails = { readonly userId: number; readonly input: OrderInputOrQuoteContent };

/** Returns the customer and the details of the requested order. If the request refers to a quote, the details are taken from the quote. */
export async function authorizeAndResolveBuyerAndOrderInput(
  em: EntityManager,
  principal: Principal,
  body: OrderCreate,
): Promise<OrderDetails> {
  const { quote_id: quoteId, items, delivery, ...rest } = body;
  if (quoteId !== undefined) {
    rejectFieldsBesidesQuote(body);
    return findQuotedDetails(em, principal, quoteId);
  }
  if (items === undefined || delivery === undefined) {
    const missing = [...(items === undefined ? ['items'] : []), ...(delivery === undefined ? ['delivery'] : [])];
    throw createInvalidRequestProblem(
      ...missing.map((field) => fieldEntry(field, 'required', 'This field is required if `quote_id` is omitted.')),
    );
  }
  return { userId: authorizeAndGetBuyerId(principal, body), input: { ...rest, items, delivery } };
}

const fieldEntry = (field: string, code: string, detail: string): ProblemEntry => ({ in: 'body', pointer: `#/${field}`, code, detail });

function rejectFieldsBesidesQuote({ quote_id: _quoteId, metadata, ...others }: OrderCreate): void {
  // Validation sets absent metadata to an empty object.
  const given = { ...others, ...(Object.keys(metadata).length > 0 && { metadata }) };
  const fields = Object.entries(given).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (fields.length === 0) return;
  const detail = 'The quote already contains all order details. Send only `quote_id`, or send the details without `quote_id`.';
  throw createInvalidRequestProblem(...fields.map((field) => fieldEntry(field, 'conflicting_fields', detail)));
}

async function findQuotedDetails(em: EntityManager, principal: Principal, quoteId: number): Promise<OrderDetails> {
  const quote = await findAccessibleQuote(em, principal, quoteId);
  if (!quote) throw createInvalidRequestProblem(fieldEntry('quote_id', 'unknown_reference', 'There is no quote with this ID.'));
  const { user, items, delivery, discountTotal, reference, note, metadata } = quote;
  const input = {
    quoteId,
    items: items.map(({ product_id, quantity }) => ({ product_id, quantity })),
    delivery,
    discount_total: discountTotal,
    ...(reference != null && { reference }),
    ...(note != null && { note }),
    metadata,
  };
  return { userId: user.id, input };
}
