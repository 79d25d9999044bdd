import { expect, test } from 'vitest';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import {
  describeOrderableProductCategories,
  describeLimitAmountsAndEndDate,
  formatAmountWithoutCurrency,
  orderLimitsFormFromLimits,
  orderLimitsFormSchema,
  parsePositiveAmount,
} from '../../../server/oauth/pages/views/order-limits-form-and-amount-format.ts';

const { messages } = bundledLanguages.default;

test.each<[string, string, number | undefined]>([
  ['20', 'EUR', 2_000],
  ['20.5', 'EUR', 2_050],
  ['20,05', 'EUR', 2_005],
  ['20.055', 'EUR', undefined],
  ['300', 'JPY', 300],
  ['300.0', 'JPY', undefined],
  ['1.234', 'KWD', 1_234],
  ['0.01', 'EUR', 1],
  ['0.00', 'EUR', undefined],
  ['-1', 'EUR', undefined],
  ['1.', 'EUR', undefined],
  ['.5', 'EUR', undefined],
  ['1.234,5', 'EUR', undefined],
  ['90071992547409.91', 'EUR', 9_007_199_254_740_991],
  ['90071992547409.92', 'EUR', undefined],
  ['1234567890123456', 'JPY', undefined],
])('the amount %s in %s is %s minor units', (text, currency, amount) => {
  expect(parsePositiveAmount(text, currency)).toBe(amount);
});

test("amounts are shown in the format of the page's language, with the decimal places of the currency and without thousands separators", () => {
  const german = bundledLanguages.match('de')?.messages ?? messages;
  expect([
    formatAmountWithoutCurrency(messages, 123_450, 'EUR'),
    formatAmountWithoutCurrency(messages, 1_234, 'JPY'),
    formatAmountWithoutCurrency(german, 123_450, 'EUR'),
    formatAmountWithoutCurrency(german, 9_007_199_254_740_991, 'EUR'),
    formatAmountWithoutCurrency({ ...messages, language: { ...messages.language, tag: 'fa' } }, 123_450, 'EUR'),
  ]).toEqual(['1234.50', '1234', '1234,50', '90071992547409,91', '1234.50']);
});

test('the options of select fields are short enough for a phone', () => {
  for (const tag of ['en', 'de', 'fr', 'es']) {
    const { orderAccess, approvalModes, periods } = (bundledLanguages.match(tag)?.messages ?? messages).orderLimits;
    for (const option of [orderAccess, approvalModes, periods].flatMap((texts) => Object.values(texts)))
      expect(option.length, option).toBeLessThanOrEqual(29);
  }
});

test('limits are described in words', () => {
  const limits = { currency: 'EUR', per_order: 2_000, per_period: 5_000, period: 'week' } as const;
  expect(describeLimitAmountsAndEndDate(messages, { limits })).toBe('of at most €20.00 each and of at most €50.00 per week in total');
  expect(describeLimitAmountsAndEndDate(messages, { limits: { currency: 'EUR', per_period: 5_000 } })).toBe(
    'of at most €50.00 per month in total',
  );
  expect(describeLimitAmountsAndEndDate(messages, { valid_until: '2030-07-01T23:59:59.999Z' })).toMatch(/^until .*July.*2030$/);
  expect(describeLimitAmountsAndEndDate(messages, { limits: { currency: 'JPY', per_order: 300 } })).toBe('of at most ¥300 each');
  const german = bundledLanguages.match('de')?.messages ?? messages;
  expect(describeLimitAmountsAndEndDate(german, { limits: { currency: 'EUR', per_order: 125_000 } })).toBe(
    'höchstens 1.250,00\u00a0€ pro Bestellung',
  );
  expect(describeLimitAmountsAndEndDate(messages, {})).toBeUndefined();
  expect(describeOrderableProductCategories(messages, { categories: ['tea', 'coffee'] })).toBe(
    'Only products in these categories: tea and coffee',
  );
  expect(describeOrderableProductCategories(messages, { categories: [] })).toBe(
    'No products: your limits and the shop’s limits have no category in common',
  );
});

test('the form shows the entered limits again, and empty fields for no limits', () => {
  expect(orderLimitsFormFromLimits(messages, undefined)).toEqual({
    limit_currency: '',
    limit_per_order: '',
    limit_per_period: '',
    limit_period: 'month',
    limit_until: '',
    limit_action: ['place', 'pay', 'cancel'],
    limit_category: [],
    limit_orders: 'all',
    limit_approval: 'above_limit',
    time_zone: undefined,
  });
  const shown = orderLimitsFormFromLimits(messages, {
    actions: ['pay'],
    orders: 'own',
    approval: 'never',
    limits: { currency: 'JPY', per_order: 300, per_period: 5_000, period: 'day' },
    products: { categories: ['tea'] },
    valid_until: '2030-07-01T23:59:59.999Z',
  });
  expect(shown).toEqual({
    limit_currency: 'JPY',
    limit_per_order: '300',
    limit_per_period: '5000',
    limit_period: 'day',
    limit_until: '2030-07-01',
    limit_action: ['pay'],
    limit_category: ['tea'],
    limit_orders: 'own',
    limit_approval: 'never',
    time_zone: undefined,
  });
});

test('invalid form fields are treated as if they had not been sent', () => {
  const empty = orderLimitsFormSchema.parse({});
  expect(empty).toEqual({ limit_currency: '', limit_per_order: '', limit_per_period: '', limit_period: 'month', limit_until: '' });
  const invalid = { limit_currency: ['EUR'], limit_per_order: 'x'.repeat(101), limit_period: 'year', limit_category: 7, limit_orders: 'x' };
  expect(orderLimitsFormSchema.parse({ ...invalid, limit_approval: 'x', limit_action: 7, time_zone: 7 })).toEqual({
    ...empty,
    limit_action: [],
  });
  expect(orderLimitsFormSchema.parse({ limit_per_order: ` ${'1'.repeat(100)} `, limit_action: 'pay', limit_category: 'tea' })).toEqual({
    ...empty,
    limit_per_order: '1'.repeat(100),
    limit_action: ['pay'],
    limit_category: ['tea'],
  });
  expect(orderLimitsFormSchema.parse({ limit_action: ['cancel', 'x', 'place'], limit_category: ['tea', 'coffee'] })).toEqual({
    ...empty,
    limit_action: ['place', 'cancel'],
    limit_category: ['tea', 'coffee'],
  });
});
