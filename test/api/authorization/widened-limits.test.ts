import type { EffectiveOrderLimits } from '@mandate/contract';
import { expect, test } from 'vitest';
import { findFieldPermittingMoreThanAllowed } from '../../../server/order-limits/find-field-permitting-more-than-allowed.ts';

const limits = { currency: 'EUR', per_order: 2_000, per_period: 5_000, period: 'week' } as const;
const allowed: EffectiveOrderLimits = {
  actions: ['place', 'pay'],
  orders: 'own',
  approval: 'always',
  limits,
  products: { categories: ['tea', 'coffee'] },
  valid_until: '2030-07-01T10:00:00Z',
};
const unlimited: EffectiveOrderLimits = { actions: ['place', 'pay', 'cancel'], orders: 'all', approval: 'above_limit' };

test.each<[string | undefined, Partial<EffectiveOrderLimits>]>([
  [undefined, {}],
  [undefined, { actions: ['pay'] }],
  ['actions', { actions: ['place', 'pay', 'cancel'] }],
  ['actions', { actions: ['cancel'] }],
  ['limits', { limits: undefined }],
  ['limits.currency', { limits: { ...limits, currency: 'GBP' } }],
  [undefined, { limits: { ...limits, per_order: 1_999 } }],
  ['limits.per_order', { limits: { ...limits, per_order: 2_001 } }],
  ['limits.per_order', { limits: { ...limits, per_order: undefined } }],
  [undefined, { limits: { ...limits, per_period: 4_999 } }],
  ['limits.per_period', { limits: { ...limits, per_period: 5_001 } }],
  ['limits.per_period', { limits: { currency: 'EUR', per_order: 2_000 } }],
  ['limits.period', { limits: { ...limits, period: 'day' } }],
  ['limits.period', { limits: { ...limits, period: 'month' } }],
  [undefined, { products: { categories: ['tea'] } }],
  ['products', { products: { categories: ['tea', 'wine'] } }],
  ['products', { products: undefined }],
  [undefined, { valid_until: '2030-07-01T12:00:00+02:00' }],
  ['valid_until', { valid_until: '2030-07-01T10:00:00.001Z' }],
  ['valid_until', { valid_until: undefined }],
  ['orders', { orders: 'all' }],
  ['approval', { approval: 'above_limit' }],
  ['approval', { approval: 'never' }],
])('the limit that permits more than before is %s: %j', (field, changed) => {
  expect(findFieldPermittingMoreThanAllowed(allowed, { ...allowed, ...changed })).toBe(field);
});

test('if there is no limit, no change can widen it', () => {
  expect(findFieldPermittingMoreThanAllowed(unlimited, unlimited)).toBeUndefined();
  expect(findFieldPermittingMoreThanAllowed(unlimited, allowed)).toBeUndefined();
  expect(findFieldPermittingMoreThanAllowed({ ...unlimited, limits: { currency: 'EUR' } }, { ...unlimited, limits })).toBeUndefined();
});
