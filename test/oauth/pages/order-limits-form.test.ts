import type { EffectiveOrderLimits } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { bundledLanguages } from '../../../server/languages/languages.ts';
import { parseOrderLimitsForm } from '../../../server/oauth/pages/handlers/parse-order-limits-form.ts';
import { orderLimitsFormFromLimits, type OrderLimitsForm } from '../../../server/oauth/pages/views/order-limits-form-and-amount-format.ts';

const { messages } = bundledLanguages.default;
const now = new Date('2030-06-15T12:00:00Z');
const allActions = ['place', 'pay', 'cancel'] as const;
const noLimits: EffectiveOrderLimits = { actions: [...allActions], orders: 'all', approval: 'above_limit' };

type Context = Partial<Parameters<typeof parseOrderLimitsForm>[1]>;
/** Submits the limits form for an application without limits, with the given changes to the form's fields. */
const submit = (fields: Partial<OrderLimitsForm>, context: Context = {}) =>
  parseOrderLimitsForm(
    { ...orderLimitsFormFromLimits(messages, undefined), limit_currency: 'EUR', ...fields },
    { maximum: undefined, canAllowAllOrders: true, currencies: ['EUR', 'GBP'], messages, now, ...context },
  );
const faultsOf = (...submitted: Parameters<typeof submit>): string[] =>
  submit(...submitted).faults.map(({ field, text }) => `${field}: ${text}`);

describe('a form without a limit', () => {
  test('sets no limits, and has the default time zone', () => {
    expect(submit({})).toEqual({ faults: [], limits: undefined, timeZone: 'UTC' });
    expect(submit({ limit_category: undefined }).limits).toBeUndefined();
    expect(submit({ time_zone: 'Nowhere/City' }).timeZone).toBe('UTC');
    expect(submit({ time_zone: 'Europe/London' }).timeZone).toBe('Europe/London');
  });

  test('sets limits if the application requests limits', () => {
    expect(submit({}, { maximum: noLimits }).limits).toEqual(noLimits);
    expect(submit({ limit_per_period: '5', limit_orders: undefined }, { maximum: noLimits }).limits).toEqual({
      ...noLimits,
      limits: { currency: 'EUR', per_period: 500, period: 'month' },
    });
  });
});

describe('each field of the form alone sets limits', () => {
  test.each<[Partial<OrderLimitsForm>, Partial<EffectiveOrderLimits>]>([
    [{ limit_per_order: '20.50' }, { limits: { currency: 'EUR', per_order: 2_050 } }],
    [{ limit_per_period: '100' }, { limits: { currency: 'EUR', per_period: 10_000, period: 'month' } }],
    [{ limit_per_period: '100', limit_period: 'week' }, { limits: { currency: 'EUR', per_period: 10_000, period: 'week' } }],
    [{ limit_until: '2030-06-15' }, { valid_until: '2030-06-15T23:59:59.999Z' }],
    [{ limit_until: '2030-06-30', time_zone: 'Europe/Berlin' }, { valid_until: '2030-06-30T21:59:59.999Z' }],
    [{ limit_action: ['place', 'pay'] }, { actions: ['place', 'pay'] }],
    [{ limit_category: ['tea', 'tea', 'coffee'] }, { products: { categories: ['tea', 'coffee'] } }],
    [{ limit_orders: 'own' }, { orders: 'own' }],
    [{ limit_approval: 'always' }, { approval: 'always' }],
    [{ limit_approval: 'never' }, { approval: 'never' }],
  ])('%j', (fields, limits) => {
    expect(submit(fields)).toEqual({ faults: [], limits: { ...noLimits, ...limits }, timeZone: fields.time_zone ?? 'UTC' });
  });
});

describe('an invalid field is reported, and no limits are set', () => {
  test.each<[Partial<OrderLimitsForm>, string]>([
    [{ limit_per_order: '0' }, 'limit_per_order: Enter an amount such as 20.00'],
    [{ limit_per_period: 'x' }, 'limit_per_period: Enter an amount such as 20.00'],
    [{ limit_per_order: '5', limit_currency: 'USD' }, 'limit_currency: Choose a currency'],
    [{ limit_until: '2030-06-14' }, 'limit_until: Enter a date in the future'],
    [{ limit_until: '2030-06-31x' }, 'limit_until: Enter a date in the future'],
    [{ limit_until: '+002030-07-01' }, 'limit_until: Enter a date in the future'],
    [{ limit_until: '2030-07-01T10:00' }, 'limit_until: Enter a date in the future'],
    [{ limit_until: '2030-13-01' }, 'limit_until: Enter a date in the future'],
    [{ limit_action: [] }, 'limit_action_place: Choose at least one action, or cancel'],
    [{ limit_action: undefined }, 'limit_action_place: Choose at least one action, or cancel'],
    [
      { limit_category: Array.from({ length: 51 }, (_, index) => `category ${index}`) },
      'limit_category: Choose between 1 and 50 categories',
    ],
  ])('%j', (fields, fault) => {
    expect(faultsOf(fields)).toEqual([fault]);
    expect(submit(fields).limits).toBeUndefined();
  });

  test('the last day must end in the future', () => {
    const fault = 'limit_until: Enter a date in the future';
    expect(faultsOf({ limit_until: '2030-06-15' }, { now: new Date('2030-06-15T23:59:59.999Z') })).toEqual([fault]);
    expect(faultsOf({ limit_until: '2030-06-15' }, { now: new Date('2030-06-15T23:59:59.998Z') })).toEqual([]);
  });

  test('a currency is required only for an amount', () => {
    expect(faultsOf({ limit_currency: '', limit_orders: 'own' })).toEqual([]);
    expect(faultsOf({ limit_currency: '', limit_per_period: '5' })).toEqual(['limit_currency: Choose a currency']);
  });
});

describe('limits that the application requests', () => {
  const maximum: EffectiveOrderLimits = {
    actions: ['place', 'cancel'],
    orders: 'own',
    approval: 'above_limit',
    limits: { currency: 'GBP', per_order: 2_000, per_period: 5_000, period: 'day' },
    products: { categories: ['tea', 'coffee'] },
    valid_until: '2030-07-01T10:00:00.000Z',
  };
  const asked = orderLimitsFormFromLimits(messages, maximum);

  test('are adopted unchanged', () => {
    expect(submit(asked, { maximum })).toEqual({ faults: [], limits: maximum, timeZone: 'UTC' });
  });

  test.each(['de', 'fr', 'es'])('are adopted unchanged with amounts in the format of the language %s', (language) => {
    const translated = bundledLanguages.match(language)?.messages ?? messages;
    const shown = orderLimitsFormFromLimits(translated, maximum);
    expect([shown.limit_per_order, shown.limit_per_period]).toEqual(['20,00', '50,00']);
    expect(submit(shown, { maximum, messages: translated })).toEqual({ faults: [], limits: maximum, timeZone: 'UTC' });
    expect(submit(asked, { maximum, messages: translated })).toEqual({ faults: [], limits: maximum, timeZone: 'UTC' });
  });

  test('can be lowered', () => {
    const lower = {
      ...asked,
      limit_per_order: '19.99',
      limit_per_period: '50',
      limit_category: ['tea', 'wine'],
      limit_until: '2030-06-20',
    };
    expect(submit({ ...lower, limit_action: ['place', 'pay'] }, { maximum }).limits).toEqual({
      ...maximum,
      actions: ['place'],
      limits: { currency: 'GBP', per_order: 1_999, per_period: 5_000, period: 'day' },
      products: { categories: ['tea'] },
      valid_until: '2030-06-20T23:59:59.999Z',
    });
  });

  test('have a currency and a period that the user cannot change, even if the shop has no prices in that currency', () => {
    const changed = submit({ ...asked, limit_currency: 'EUR', limit_period: 'month' }, { maximum, currencies: [] });
    expect([changed.faults, changed.limits?.limits]).toEqual([[], maximum.limits]);
  });

  test.each<[Partial<OrderLimitsForm>, string]>([
    [{ limit_per_order: '20.01' }, 'limit_per_order: Enter £20.00 or less'],
    [{ limit_per_order: '' }, 'limit_per_order: Enter £20.00 or less'],
    [{ limit_per_period: '50.01' }, 'limit_per_period: Enter £50.00 or less'],
    [{ limit_per_period: '' }, 'limit_per_period: Enter £50.00 or less'],
    [{ limit_until: '2030-07-02' }, 'limit_until: Enter 1 July 2030 or an earlier date'],
    [{ limit_until: '' }, 'limit_until: Enter 1 July 2030 or an earlier date'],
    [{ limit_action: ['pay'] }, 'limit_action_place: Choose at least one action, or cancel'],
    [{ limit_category: [] }, 'limit_category: Choose between 1 and 2 categories'],
    [{ limit_category: ['wine'] }, 'limit_category: Choose between 1 and 2 categories'],
  ])('cannot be exceeded: %j', (fields, fault) => {
    expect(faultsOf({ ...asked, ...fields }, { maximum }).map((text) => text.replace('July 1, 2030', '1 July 2030'))).toEqual([fault]);
  });

  test('end at the requested time, even if the last day ends later in the time zone of the user', () => {
    const form = { ...asked, limit_until: '2030-06-30', time_zone: 'Pacific/Honolulu' };
    expect(submit(form, { maximum }).limits?.valid_until).toBe('2030-07-01T09:59:59.999Z');
    const later = { ...maximum, valid_until: '2030-07-01T08:00:00.000Z' };
    expect(submit(form, { maximum: later }).limits?.valid_until).toBe('2030-07-01T08:00:00.000Z');
  });

  test('include the approval mode that the application requests, which the user can change only if it is the default', () => {
    const approvalWith = (approval: EffectiveOrderLimits['approval'], chosen: OrderLimitsForm['limit_approval'], context: Context = {}) =>
      submit({ limit_approval: chosen }, { maximum: { ...noLimits, approval }, ...context }).limits?.approval;
    expect([approvalWith('always', 'never'), approvalWith('never', 'always'), approvalWith('above_limit', 'never')]).toEqual([
      'always',
      'never',
      'never',
    ]);
    expect([
      approvalWith('above_limit', undefined),
      approvalWith('above_limit', undefined, { current: { ...noLimits, approval: 'never' } }),
    ]).toEqual(['above_limit', 'never']);
  });
});

describe('limits that an administrator sets, when the user changes limits later', () => {
  const ceiling = { currency: 'GBP', per_order: 2_000, per_period: 5_000, period: 'week' } as const;

  test('may be empty in the form, and determine the currency and the period', () => {
    expect(submit({}, { ceiling })).toMatchObject({ faults: [], limits: undefined });
    expect(submit({ limit_per_order: '20', limit_per_period: '50' }, { ceiling, currencies: [] }).limits?.limits).toEqual(ceiling);
  });

  test('cannot be exceeded, and the lower of two limits applies', () => {
    expect(faultsOf({ limit_per_order: '20.01', limit_per_period: '50.01' }, { ceiling })).toEqual([
      'limit_per_order: Enter £20.00 or less',
      'limit_per_period: Enter £50.00 or less',
    ]);
    expect(faultsOf({ limit_per_order: '20.01' }, { ceiling, maximum: noLimits })).toEqual(['limit_per_order: Enter £20.00 or less']);
    const maximum: EffectiveOrderLimits = { ...noLimits, limits: { currency: 'GBP', per_order: 1_500 } };
    expect(faultsOf({ limit_per_order: '20.01' }, { ceiling, maximum })).toEqual(['limit_per_order: Enter £15.00 or less']);
    expect(faultsOf({ limit_per_order: '15', limit_per_period: '50.01' }, { ceiling, maximum })).toEqual([
      'limit_per_period: Enter £50.00 or less',
    ]);
  });

  test('restrict the categories that can be selected', () => {
    expect(submit({ limit_category: ['tea', 'wine'] }, { ceilingCategories: ['tea', 'coffee'] }).limits?.products).toEqual({
      categories: ['tea'],
    });
    expect(submit({ limit_category: ['wine'] }, { ceilingCategories: ['tea'] })).toMatchObject({ faults: [], limits: undefined });
  });
});

describe('limits that the page does not show', () => {
  const current: EffectiveOrderLimits = { ...noLimits, orders: 'own', valid_until: '2030-01-31T10:00:00.000Z' };

  test('stay unchanged', () => {
    expect(submit({ limit_orders: undefined }, { current }).limits?.orders).toBe('own');
    expect(submit({ limit_orders: 'all' }, { current }).limits).toBeUndefined();
    expect(submit({ limit_orders: undefined }).limits).toBeUndefined();
    const maximum = { ...noLimits, orders: 'own' } as const;
    expect(submit({ limit_orders: undefined }, { maximum, current: noLimits }).limits?.orders).toBe('own');
  });

  test('include the time of the last day, which may be in the past', () => {
    expect(submit({ limit_until: '2030-01-31' }, { current }).limits?.valid_until).toBe('2030-01-31T10:00:00.000Z');
    expect(submit({ limit_until: '', limit_orders: 'own' }, { current }).limits?.valid_until).toBeUndefined();
  });

  test('include the restriction to own orders if the user has no choice', () => {
    expect(submit({ limit_orders: 'all' }, { canAllowAllOrders: false }).limits?.orders).toBe('own');
  });
});
