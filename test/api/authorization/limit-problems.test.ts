import { expect, test } from 'vitest';
import type { Problem } from '../../../server/http/problem-details/problem.ts';
import { translateProblem } from '../../../server/http/problem-details/translate-problem.ts';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import {
  createActionNotAllowedProblem,
  createExpiredAuthorizationProblem,
  createLimitExceededProblem,
  type ExceededLimit,
} from '../../../server/order-limits/order-limit-problems.ts';

const changeHint = 'The customer can change this on the /account/apps page.';
const inEnglish = (problem: Problem) => ({ code: problem.code, ...translateProblem(problem, bundledLanguages.default) });
const create = (exceeded: ExceededLimit, pointer = '#/items') =>
  inEnglish(createLimitExceededProblem({ currency: 'EUR', ...exceeded }, 2_500, 'GBP', pointer));
const detailOf = (...created: Parameters<typeof create>): string => create(...created).detail;

test.each([
  [undefined, `The customer allows 20.00 EUR per order, and this order costs 25.00 EUR. Lower the total. ${changeHint}`],
  ['customer', `The customer allows 20.00 EUR per order, and this order costs 25.00 EUR. Lower the total. ${changeHint}`],
  [
    'api_key',
    'This API key allows 20.00 EUR per order, and this order costs 25.00 EUR. Lower the total. The limits of an API key cannot be changed.',
  ],
  [
    'application',
    'The shop allows this application 20.00 EUR per order, and this order costs 25.00 EUR. Lower the total. Only an administrator of the shop can change this.',
  ],
  [
    'shop',
    'The shop allows this application 20.00 EUR per order, and this order costs 25.00 EUR. Lower the total. Only an administrator of the shop can change this.',
  ],
] as const)('a limit per order that %s set is explained', (author, detail) => {
  const problem = create({ limit: 'per_order', per_order: 2_000, ...(author && { set_by: author }) });
  expect(problem).toMatchObject({
    code: 'limit_exceeded',
    detail,
    errors: [{ in: 'body', pointer: '#/items', code: 'limit_exceeded', detail, limit: 2_000, requested: 2_500, available: 2_000 }],
  });
  expect(problem.errors?.[0]).not.toHaveProperty('approvable');
  expect(problem.errors?.[0]).not.toHaveProperty('approval_id');
});

test('a problem about a budget states the spent amount and the remaining amount, which is never negative', () => {
  const budget = { limit: 'per_period', per_period: 5_000, period: 'week', period_ends_at: '2030-01-07T00:00:00Z' } as const;
  const problem = create({ ...budget, spent: 3_000 });
  const facts =
    'The customer allows 50.00 EUR per week. 30.00 EUR has already been spent, 20.00 EUR remains, and this order costs 25.00 EUR.';
  expect(problem.detail).toBe(`${facts} Lower the total, or wait until 2030-01-07T00:00:00.000Z. ${changeHint}`);
  expect(problem.errors?.[0]).toMatchObject({ limit: 5_000, spent: 3_000, requested: 2_500, available: 2_000 });
  expect(create({ ...budget, spent: 6_000 }).errors?.[0]).toMatchObject({ spent: 6_000, available: 0 });
  expect(create({ ...budget, spent: -100 }).errors?.[0]).toMatchObject({ spent: 0, available: 5_000 });
  expect(create({ ...budget, spent: null }).errors?.[0]).toMatchObject({ spent: 0, available: 5_000 });
});

test('amounts have the number of decimals of their currency', () => {
  expect(detailOf({ limit: 'per_order', currency: 'JPY', per_order: 2_000 })).toMatch(
    /^The customer allows 2000 JPY per order, and this order costs 2500 JPY\./,
  );
});

test('a problem about an order in another currency states both currencies', () => {
  const detail = `The customer allows only orders in EUR, but this order is in GBP. ${changeHint}`;
  expect(create({ limit: 'currency', approvable: false }).errors).toEqual([
    { in: 'body', pointer: '#/items', code: 'limit_exceeded', detail, requested: 2_500, approvable: false },
  ]);
});

test('a problem about an order that needs an approval describes how to request one', () => {
  const exceeded = { limit: 'approval', approvable: true } as const;
  const everyOrder = 'The customer must approve every order that this application places.';
  expect(detailOf(exceeded)).toBe(`${everyOrder} Request approval of a quote with POST /api/v1/approvals. ${changeHint}`);
  expect(detailOf(exceeded, '#/quote_id')).toBe(`${everyOrder} Request approval of this quote with POST /api/v1/approvals. ${changeHint}`);
  expect(detailOf({ ...exceeded, approval: { id: 3, status: 'pending' } })).toMatch(
    /places\. Approval of this order is pending \(approval 3\)\. Use GET \/api\/v1\/approvals\/3\?wait=\d+ to wait for the decision, then place the order again\. The/,
  );
  expect(detailOf({ ...exceeded, approval: { id: 3, status: 'declined' } })).toBe(
    `${everyOrder} The customer declined this order (approval 3). ${changeHint}`,
  );
  expect(detailOf({ ...exceeded, approval: { id: 3, status: 'expired' } })).toBe(detailOf(exceeded));
  expect(create({ ...exceeded, approval: { id: 3, status: 'expired' } }).errors?.[0]).toMatchObject({ approvable: true, approval_id: 3 });
});

test('an order above a limit can be approved if the customer permits this', () => {
  const exceeded = { limit: 'per_order', per_order: 2_000 } as const;
  expect(detailOf({ ...exceeded, approvable: true })).toContain(
    'Lower the total, or request approval of a quote with POST /api/v1/approvals.',
  );
  expect(detailOf({ ...exceeded, approvable: true, approval: { id: 3, status: 'declined' } })).toContain(
    'Lower the total. The customer declined this order (approval 3).',
  );
  for (const approvable of [false, null])
    expect(detailOf({ ...exceeded, approvable })).toContain('Lower the total. The customer can change');
});

test('products outside the permitted categories are listed with their locations', () => {
  const exceeded = { limit: 'categories', categories: ['tea', 'coffee'], products: [{ product_id: 1, category: 'wine' }] } as const;
  const problem = inEnglish(createLimitExceededProblem(exceeded, 2_500, 'EUR', '#/items', (id) => [`#/items/${id}`, `#/items/${id + 1}`]));
  expect(problem.detail).toBe(
    `Only products in the categories tea and coffee can be ordered, and product 1 is in the category wine. Order only products in these categories. ${changeHint}`,
  );
  const entry = {
    in: 'body',
    code: 'limit_exceeded',
    detail: 'Product 1 is in the category wine, which is not permitted.',
    product_id: 1,
    category: 'wine',
    permitted_categories: ['tea', 'coffee'],
    requested: 2_500,
  };
  expect(problem.errors).toEqual([
    { ...entry, pointer: '#/items/1' },
    { ...entry, pointer: '#/items/2' },
  ]);
  expect(create(exceeded, '#/quote_id').errors?.map(({ pointer }) => pointer)).toEqual(['#/quote_id']);
});

test('at most five products and 50 errors are listed for categories', () => {
  const products = Array.from({ length: 51 }, (_, index) => ({ product_id: index + 1, category: 'wine' }));
  const describeFirst = (count: number, categories: readonly string[] = ['tea']) =>
    create({ limit: 'categories', categories, products: products.slice(0, count) });
  expect(describeFirst(5).detail).toContain('product 4 is in the category wine and product 5 is in the category wine. Order only');
  expect(describeFirst(6).detail).toContain('product 5 is in the category wine and so on. Order only');
  expect(describeFirst(51).errors).toHaveLength(50);
  expect(describeFirst(1).detail).toMatch(/^Only products in the category tea can be ordered, and/);
  expect(describeFirst(1, []).detail).toBe(
    `The customer’s limits and the shop’s limits have no product category in common, and product 1 is in the category wine. ${changeHint}`,
  );
});

test('problems about an expired authorization, a revoked one and a forbidden action state the reason', () => {
  expect(create({ limit: 'revoked' })).toMatchObject({
    code: 'revoked_token',
    detail: 'Get a new access token and send the request again.',
  });
  const ended = `The customer allowed this application to place, pay for and cancel orders until 2030-01-01T10:00:00.000Z. ${changeHint}`;
  expect(create({ limit: 'valid_until', valid_until: '2030-01-01T12:00:00+02:00' })).toMatchObject({ code: 'forbidden', detail: ended });
  expect(inEnglish(createExpiredAuthorizationProblem(null)).detail).toContain('until an earlier time.');
  expect(create({ limit: 'actions' }).detail).toBe('The customer did not allow this application to place or change orders.');
  expect((['place', 'pay', 'cancel'] as const).map((action) => inEnglish(createActionNotAllowedProblem(action)).detail)).toEqual([
    'The customer did not allow this application to place or change orders.',
    'The customer did not allow this application to pay for orders.',
    'The customer did not allow this application to cancel orders.',
  ]);
});
