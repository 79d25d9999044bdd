import type { OrderCreate } from '@mandate/contract';
import { invalidRequest, problem, type Problem, type ProblemEntry } from '../http/problem-details/problem.ts';

/** Why the database wrote no order: everything it found at that moment. */
export type Refusal = {
  unknown_products: number[];
  unavailable_products: number[];
  short: { product_id: number; requested: number; available: number }[];
  currencies: number;
  currency: string | null;
  method: { price: number; currency: string; requires_address: boolean } | null;
  subtotal: number;
  total: number | null;
  active_user: boolean;
};

/** First what the caller has to mend in the request, then what stands in its way in the shop. */
export function refusedOrder(refusal: Refusal, input: OrderCreate): Problem {
  const mistakes = [
    ...userMistakes(refusal),
    ...itemMistakes(refusal, input),
    ...deliveryMistakes(refusal, input),
    ...totalMistakes(refusal, input),
  ];
  if (mistakes.length > 0) return invalidRequest(...mistakes.slice(0, 50));
  return (
    unavailable(refusal, input) ??
    outOfStock(refusal, input) ??
    priceChanged(refusal, input) ??
    problem('out_of_stock', { detail: 'The last units were sold at this moment. Try again.' })
  );
}

const userMistakes = ({ active_user }: Refusal): ProblemEntry[] =>
  active_user ? [] : [{ in: 'body', pointer: '#/user_id', code: 'unknown_reference', detail: 'There is no active user with this id.' }];

function itemMistakes({ unknown_products, currencies }: Refusal, input: OrderCreate): ProblemEntry[] {
  const unknown = entriesOf(input, unknown_products, (id) => ({ code: 'unknown_reference', detail: `There is no product ${id}.` }));
  if (currencies < 2) return unknown;
  return [
    ...unknown,
    { in: 'body', pointer: '#/items', code: 'currency_mismatch', detail: 'All products of an order must have one currency.' },
  ];
}

function deliveryMistakes({ method, currency, currencies }: Refusal, { delivery }: OrderCreate): ProblemEntry[] {
  if (!method)
    return [
      {
        in: 'body',
        pointer: '#/delivery/method',
        code: 'unknown_reference',
        detail: 'There is no such delivery method; they are listed at /api/v1/delivery-methods.',
      },
    ];
  const mistakes: ProblemEntry[] = [];
  if (currencies === 1 && currency !== null && method.currency !== currency) {
    mistakes.push({
      in: 'body',
      pointer: '#/delivery/method',
      code: 'currency_mismatch',
      detail: `This delivery method is priced in ${method.currency}, the products in ${currency}.`,
    });
  }
  const needed = method.requires_address ? (['line1', 'city', 'country'] as const) : [];
  for (const field of needed) {
    if (delivery[field] === undefined)
      mistakes.push({ in: 'body', pointer: `#/delivery/${field}`, code: 'required', detail: 'This delivery method needs an address.' });
  }
  return mistakes;
}

function totalMistakes({ subtotal, total }: Refusal, { discount_total: discount = 0 }: OrderCreate): ProblemEntry[] {
  const mistakes: ProblemEntry[] = [];
  if (Math.max(subtotal, total ?? 0) > Number.MAX_SAFE_INTEGER) {
    mistakes.push({
      in: 'body',
      pointer: '#/items',
      code: 'out_of_range',
      detail: 'The total is larger than 9007199254740991 minor units.',
    });
  }
  if (discount > subtotal) {
    mistakes.push({
      in: 'body',
      pointer: '#/discount_total',
      code: 'out_of_range',
      detail: `The discount is larger than the subtotal, ${subtotal}.`,
    });
  }
  return mistakes;
}

function unavailable({ unavailable_products }: Refusal, input: OrderCreate): Problem | undefined {
  if (unavailable_products.length === 0) return undefined;
  return problem('product_unavailable', {
    detail: `Not for sale now: ${named(unavailable_products)}.`,
    errors: entriesOf(input, unavailable_products, (id) => ({ code: 'product_unavailable', detail: `Product ${id} is not for sale.` })),
  });
}

function outOfStock({ short }: Refusal, input: OrderCreate): Problem | undefined {
  if (short.length === 0) return undefined;
  const byProduct = new Map(short.map((shortage) => [shortage.product_id, shortage]));
  return problem('out_of_stock', {
    detail: `Not enough in stock: ${named([...byProduct.keys()])}.`,
    errors: entriesOf(input, [...byProduct.keys()], (id) => {
      const { requested = 0, available = 0 } = byProduct.get(id) ?? {};
      return {
        code: 'out_of_stock',
        detail: `${requested} units of product ${id} were asked for, ${available} are left.`,
        product_id: id,
        requested,
        available,
      };
    }),
  });
}

function priceChanged({ total }: Refusal, input: OrderCreate): Problem | undefined {
  if (total === null || input.total === undefined || total === input.total) return undefined;
  return problem('price_changed', {
    detail: `The order costs ${total} now, not ${input.total}. Show the customer the new total before you order.`,
    errors: [{ in: 'body', pointer: '#/total', code: 'price_changed', detail: `The total is ${total} now.`, actual: total }],
  });
}

type Finding = Omit<ProblemEntry, 'in' | 'pointer' | 'parameter'>;

/** One entry for every line that names one of the products. */
function entriesOf(input: OrderCreate, productIds: readonly number[], finding: (id: number) => Finding): ProblemEntry[] {
  const concerned = new Set(productIds);
  return input.items
    .flatMap(({ product_id }, index): ProblemEntry[] =>
      concerned.has(product_id) ? [{ in: 'body', pointer: `#/items/${index}/product_id`, ...finding(product_id) }] : [],
    )
    .slice(0, 50);
}

const named = (ids: readonly number[]): string =>
  ids.length === 1 ? `product ${ids[0]}` : `products ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', ...' : ''}`;
