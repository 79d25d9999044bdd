import type { OrderInput } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../server/http/problem-details/problem.ts';
import { translateProblem } from '../../../server/http/problem-details/translate-problem.ts';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import {
  findOrderPlacementProblem,
  problemFromOrderRejection,
  type OrderRejection,
} from '../../../server/orders/problem-from-order-rejection.ts';

const input: OrderInput = {
  items: [
    { product_id: 1, quantity: 2 },
    { product_id: 2, quantity: 1 },
  ],
  delivery: { method: 'standard', recipient_name: 'Ann' },
  metadata: {},
};
const rejection: OrderRejection = {
  unknown_products: [],
  unavailable_products: [],
  short: [],
  currencies: 1,
  currency: 'EUR',
  method: { price: 100, currency: 'EUR', requires_address: false },
  subtotal: 500,
  total: 600,
  active_user: true,
  exceeded: null,
  quote: null,
};
const quote: NonNullable<OrderRejection['quote']> = {
  id: 7,
  ended: null,
  order_id: null,
  expires_at: '2030-01-01T12:00:00+02:00',
  hold: false,
  price_changes: [],
  shipping_total: 100,
  total: 600,
};

type EnglishProblem = ReturnType<typeof inEnglish>;
const inEnglish = (problem: Problem) => ({ code: problem.code, ...translateProblem(problem, bundledLanguages.default) });
const summaryOf = (problem: EnglishProblem | undefined): unknown =>
  problem && [problem.code, ...(problem.errors ?? []).map(({ pointer, parameter, code }) => `${pointer ?? parameter} ${code}`)];
const find = (changed: Partial<OrderRejection>, ordered: Partial<OrderInput> = {}): EnglishProblem | undefined => {
  const problem = findOrderPlacementProblem({ ...rejection, ...changed }, { ...input, ...ordered });
  return problem && inEnglish(problem);
};
const convert = (changed: Partial<OrderRejection>, quoted: Partial<typeof quote>) =>
  inEnglish(problemFromOrderRejection({ ...rejection, ...changed, quote: { ...quote, ...quoted } }, { ...input, quoteId: 7 }));

describe('an order is rejected', () => {
  test.each<[Partial<OrderRejection>, Partial<OrderInput>, readonly string[]]>([
    [{ active_user: false }, {}, ['invalid_request', '#/user_id unknown_reference']],
    [{ unknown_products: [2] }, {}, ['invalid_request', '#/items/1/product_id unknown_reference']],
    [{ currencies: 2 }, {}, ['invalid_request', '#/items currency_mismatch']],
    [{ method: null }, {}, ['invalid_request', '#/delivery/method unknown_reference']],
    [{ currency: 'GBP' }, {}, ['invalid_request', '#/delivery/method currency_mismatch']],
    [
      { method: { price: 0, currency: 'EUR', requires_address: true } },
      { delivery: { ...input.delivery, line1: '1 High Street' } },
      ['invalid_request', '#/delivery/city required', '#/delivery/country required'],
    ],
    [{ subtotal: Number.MAX_SAFE_INTEGER + 1 }, {}, ['invalid_request', '#/items out_of_range']],
    [{ total: Number.MAX_SAFE_INTEGER + 1 }, {}, ['invalid_request', '#/items out_of_range']],
    [{}, { discount_total: 501 }, ['invalid_request', '#/discount_total out_of_range']],
    [{ unavailable_products: [1] }, {}, ['product_unavailable', '#/items/0/product_id product_unavailable']],
    [{ exceeded: { limit: 'per_order', per_order: 1 } }, {}, ['limit_exceeded', '#/items limit_exceeded']],
    [{ short: [{ product_id: 2, requested: 1, available: 0 }] }, {}, ['out_of_stock', '#/items/1/product_id out_of_stock']],
    [{}, { total: 599 }, ['price_changed', '#/total price_changed']],
  ])('because of %j with %j', (changed, ordered, expected) => {
    expect(summaryOf(find(changed, ordered))).toEqual(expected);
  });

  test.each<[Partial<OrderRejection>, Partial<OrderInput>]>([
    [{}, {}],
    [{}, { discount_total: 500 }],
    [{}, { total: 600 }],
    [{ total: null }, { total: 1 }],
    [{ subtotal: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER }, {}],
    // an order without known products has no currency
    [{ currency: null }, {}],
    [
      { method: { price: 0, currency: 'EUR', requires_address: true } },
      { delivery: { ...input.delivery, line1: '1', city: 'London', country: 'GB' } },
    ],
  ])('not because of %j with %j', (changed, ordered) => {
    expect(find(changed, ordered)).toBeUndefined();
  });

  test('with every error in the request, but without the conflicts', () => {
    const changed = { active_user: false, unknown_products: [1, 2], currencies: 2, currency: 'GBP', unavailable_products: [1] };
    expect(summaryOf(find(changed, { discount_total: 501 }))).toEqual([
      'invalid_request',
      '#/user_id unknown_reference',
      '#/items/0/product_id unknown_reference',
      '#/items/1/product_id unknown_reference',
      '#/items currency_mismatch',
      '#/discount_total out_of_range',
    ]);
  });

  test('with at most 50 errors', () => {
    const items = Array.from({ length: 51 }, (_, index) => ({ product_id: index + 1, quantity: 1 }));
    const ids = items.map(({ product_id: id }) => id);
    expect(find({ unknown_products: ids, active_user: false }, { items })?.errors).toHaveLength(50);
    expect(find({ unavailable_products: ids }, { items })?.errors).toHaveLength(50);
    expect(find({ unavailable_products: ids }, { items })?.detail).toBe(
      'Currently not for sale: products 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ....',
    );
    expect(find({ unavailable_products: ids.slice(0, 10) }, { items })?.detail).toBe(
      'Currently not for sale: products 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.',
    );
    expect(find({ unavailable_products: [1] }, { items })?.detail).toBe('Currently not for sale: product 1.');
  });

  test('with the available quantity, the current total and each line of a product', () => {
    const items = [...input.items, { product_id: 1, quantity: 1 }];
    const detail = '3 units of product 1 were ordered, but only 2 are available.';
    const shortage = { product_id: 1, requested: 3, available: 2 };
    expect(find({ short: [shortage] }, { items })?.detail).toBe('Not enough in stock: product 1.');
    expect(find({ short: [shortage] }, { items })?.errors).toEqual([
      { in: 'body', pointer: '#/items/0/product_id', code: 'out_of_stock', detail, ...shortage },
      { in: 'body', pointer: '#/items/2/product_id', code: 'out_of_stock', detail, ...shortage },
    ]);
    expect(find({}, { total: 599 })).toMatchObject({
      detail: 'The order now costs 600, not 599. Show the customer the new total before you order.',
      errors: [{ detail: 'The total is now 600.', actual: 600 }],
    });
  });

  test('with the lines that exceed a limit, the amount and the currency of the order', () => {
    const products = [{ product_id: 2, category: 'wine' }];
    expect(find({ exceeded: { limit: 'categories', categories: ['tea'], products } })?.errors).toMatchObject([
      { pointer: '#/items/1/product_id', product_id: 2, requested: 600 },
    ]);
    expect(convert({ exceeded: { limit: 'categories', categories: ['tea'], products } }, {}).errors).toMatchObject([
      { pointer: '#/quote_id', product_id: 2 },
    ]);
    expect(find({ exceeded: { limit: 'currency', currency: 'GBP' } })?.detail).toContain('but this order is in EUR.');
  });

  test('because of a concurrent sale if there is no other reason', () => {
    expect(inEnglish(problemFromOrderRejection(rejection, input))).toMatchObject({
      code: 'out_of_stock',
      detail:
        'Some of the requested units have just been sold or reserved. Send the request again; if too few are left, the response will list the available quantities.',
    });
  });
});

describe('an order from a quote is rejected', () => {
  test.each([
    [{ ended: 'converted', order_id: 9 } as const, 'Order 9 has already been placed from the quote.'],
    [{ ended: 'canceled' } as const, 'The quote was canceled.'],
    [{ ended: 'expired' } as const, 'The quote expired at 2030-01-01T10:00:00.000Z.'],
  ])('because the quote ended: %j', (ended, reason) => {
    const detail = `No order can be placed from quote 7. ${reason}`;
    expect(convert({ active_user: false }, ended)).toMatchObject({
      code: 'quote_not_open',
      detail,
      errors: [{ in: 'body', pointer: '#/quote_id', code: ended.ended, detail }],
    });
  });

  test.each<[Partial<OrderRejection>, Partial<typeof quote>, readonly string[]]>([
    [{ active_user: false }, {}, ['invalid_request', '#/quote_id unknown_reference']],
    [{ unavailable_products: [1] }, { shipping_total: 1 }, ['product_unavailable', '#/quote_id product_unavailable']],
    [{ exceeded: { limit: 'per_order', per_order: 1 } }, {}, ['limit_exceeded', '#/quote_id limit_exceeded']],
    [{ short: [{ product_id: 1, requested: 2, available: 1 }] }, {}, ['out_of_stock', '#/quote_id out_of_stock']],
    // the stock of a quote with a hold is reserved
    [{ short: [{ product_id: 1, requested: 2, available: 1 }] }, { hold: true }, ['out_of_stock']],
  ])('because of %j with a quote with %j', (changed, quoted, expected) => {
    expect(summaryOf(convert(changed, quoted))).toEqual(expected);
  });

  test.each<[Partial<OrderRejection>, Partial<typeof quote>, readonly object[]]>([
    [
      {},
      {
        price_changes: [
          { product_id: 2, quoted: 5, actual: 6 },
          { product_id: 1, quoted: 5, actual: 5 },
        ],
      },
      [
        { detail: 'The tax rate of product 1 has changed.', product_id: 1 },
        { detail: 'Product 2 now costs 6, not 5.', product_id: 2, actual: 6 },
      ],
    ],
    [{ method: null }, {}, [{ detail: 'The delivery method is no longer offered.' }]],
    [{ currencies: 2 }, {}, [{ detail: 'The currency of the products or the delivery has changed.' }]],
    [{ currency: 'GBP' }, {}, [{ detail: 'The currency of the products or the delivery has changed.' }]],
    [{ method: { price: 100, currency: 'EUR', requires_address: true } }, {}, [{ detail: 'The delivery method now requires an address.' }]],
    [{}, { shipping_total: 90 }, [{ detail: 'Delivery now costs 100, not 90.', actual: 100 }]],
    [{}, { total: 590 }, [{ detail: 'The total is now 600, not 590.', actual: 600 }]],
    [{}, { total: 590, shipping_total: 90 }, [{ detail: 'Delivery now costs 100, not 90.', actual: 100 }]],
  ])('because prices changed: %j with a quote with %j', (changed, quoted, entries) => {
    const problem = convert(changed, quoted);
    expect([problem.code, problem.errors]).toEqual([
      'price_changed',
      entries.map((entry) => ({ in: 'body', pointer: '#/quote_id', code: 'price_changed', ...entry })),
    ]);
    expect(problem.detail).toMatch(/^Prices have changed since quote 7 was created\./);
  });

  test('not because prices changed if the total is unknown', () => {
    expect(convert({ total: null }, { total: 590 }).code).toBe('out_of_stock');
  });

  test('because an address is missing only if the quote has no complete address', () => {
    const changed = { ...rejection, method: { price: 100, currency: 'EUR', requires_address: true }, quote };
    const convertWith = (address: object) =>
      problemFromOrderRejection(changed, { ...input, quoteId: 7, delivery: { ...input.delivery, ...address } }).code;
    expect([convertWith({ line1: '1', city: 'London', country: 'GB' }), convertWith({ line1: '1', city: 'London' })]).toEqual([
      'out_of_stock',
      'price_changed',
    ]);
  });

  test('with at most 50 errors', () => {
    const ids = Array.from({ length: 51 }, (_, index) => index + 1);
    expect(convert({ unavailable_products: ids }, {}).errors).toHaveLength(50);
    const changes = ids.map((id) => ({ product_id: id, quoted: 5, actual: 6 }));
    expect(convert({}, { price_changes: changes }).errors).toHaveLength(50);
  });
});
