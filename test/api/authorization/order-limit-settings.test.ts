import { expect, test } from 'vitest';
import { administratorStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';

const { shop } = testAuthorization({
  'orderLimitSettings.get': { send: () => ['GET', '/order-limit-settings'], statuses: administratorStatuses(200) },
  'orderLimitSettings.update': {
    send: () => ['PATCH', '/order-limit-settings', { default_limits: null }],
    statuses: administratorStatuses(200),
  },
});
const admin = shop.admin(['applications.manage', 'audit.read']);

const path = '/api/v1/order-limit-settings';
const monthly = (perPeriod: number) => ({ currency: 'EUR', per_period: perPeriod, period: 'month' });

test('an update changes only the given fields, is conditional, and is recorded in the audit log', async () => {
  const before = await admin.callApi('GET', path);
  const etag = before.headers.get('etag') ?? '';
  const changed = await admin.callApi('PATCH', path, { body: { maximum_limits: monthly(500) }, headers: { 'if-match': etag } });
  expect([changed.status, changed.body]).toEqual([200, { ...before.body, maximum_limits: monthly(500), version: before.body.version + 1 }]);
  const outdated = await admin.callApi('PATCH', path, { body: { maximum_limits: null }, headers: { 'if-match': etag } });
  expect([outdated.status, outdated.body.code]).toEqual([412, 'precondition_failed']);
  await admin.callApi('PATCH', path, { body: { default_limits: monthly(200) } });
  expect((await admin.callApi('GET', path)).body).toMatchObject({ maximum_limits: monthly(500), default_limits: monthly(200) });
  const { body } = await admin.callApi('GET', '/api/v1/audit-events?action=order_limit_settings.changed&limit=1');
  expect(body.data[0]).toMatchObject({
    actor_id: admin.id,
    details: { default_limits: JSON.stringify(monthly(200)) },
  });
});

test.each([
  ['a higher default', { default_limits: monthly(501) }, '#/default_limits/per_period', 'at most 5.00 EUR per month is permitted'],
  ['a maximum below the default', { maximum_limits: monthly(100) }, '#/default_limits/per_period', 'at most 1.00 EUR per month'],
  ['another currency', { default_limits: { ...monthly(1), currency: 'GBP' } }, '#/default_limits/currency', 'only orders in EUR'],
  ['another period', { default_limits: { ...monthly(1), period: 'day' } }, '#/default_limits/period', 'the period must be one month'],
])('a default above the maximum is rejected, and nothing changes: %s', async (_name, body, pointer, detail) => {
  await admin.callApi('PATCH', path, { body: { maximum_limits: monthly(500), default_limits: monthly(200) } });
  const { body: before } = await admin.callApi('GET', path);
  const rejected = await admin.callApi('PATCH', path, { body });
  expect([rejected.status, rejected.body]).toMatchObject([
    400,
    { code: 'invalid_request', errors: [{ pointer, code: 'out_of_range', detail: expect.stringContaining(detail) }] },
  ]);
  expect((await admin.callApi('GET', path)).body).toEqual(before);
});

const invalidLimits: [string, object, string][] = [
  ['a negative amount', { currency: 'EUR', per_order: -1 }, '/per_order'],
  ['zero', { currency: 'EUR', per_order: 0 }, '/per_order'],
  ['a fraction', { currency: 'EUR', per_order: 1.5 }, '/per_order'],
  ['an amount above 2^53-1', { currency: 'EUR', per_order: 9007199254740992 }, '/per_order'],
  ['an unknown currency', { currency: 'XXY', per_order: 1 }, '/currency'],
];

test.each([
  ...invalidLimits,
  ['no amount', { currency: 'EUR' }, '/per_order'],
  ['a budget without a period', { currency: 'EUR', per_period: 1 }, '/period'],
] satisfies typeof invalidLimits)('invalid limits are rejected, and nothing changes: %s', async (_name, limits, pointer) => {
  await admin.callApi('PATCH', path, { body: { maximum_limits: monthly(500), default_limits: monthly(200) } });
  const { body: before } = await admin.callApi('GET', path);
  for (const field of ['maximum_limits', 'default_limits']) {
    const { status, body } = await admin.callApi('PATCH', path, { body: { [field]: limits } });
    expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', `#/${field}${pointer}`]);
    expect((await admin.callApi('GET', path)).body).toEqual(before);
  }
});

test.each(invalidLimits)('an invalid ceiling of an application is rejected, and nothing changes: %s', async (_name, ceiling, pointer) => {
  const input = {
    name: 'Assistant',
    type: 'public',
    scopes: [],
    grant_types: ['authorization_code'],
    redirect_uris: ['https://app.example/'],
  };
  const created = await admin.callApi('POST', '/api/v1/applications', { body: { ...input, order_limits_ceiling: monthly(100) } });
  const applicationPath = `/api/v1/applications/${created.body.id}`;
  const { status, body } = await admin.callApi('PATCH', applicationPath, { body: { order_limits_ceiling: ceiling } });
  expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', `#/order_limits_ceiling${pointer}`]);
  expect((await admin.callApi('GET', applicationPath)).body.order_limits_ceiling).toEqual(monthly(100));
});
