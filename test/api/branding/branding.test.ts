import { scopeNames } from '@mandate/contract';
import { expect, test } from 'vitest';
import { administratorStatuses, publicStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';
import { testLogoUploads } from '../../support/shop/logo-upload-tests.ts';
import { createWebpHeader } from '../../support/shop/minimal-webp.ts';

const webp = { 'content-type': 'image/webp' };

const { shop } = testAuthorization({
  'branding.get': { send: () => ['GET', '/branding'], statuses: publicStatuses },
  'branding.update': { send: () => ['PATCH', '/branding', { email_footer: null }], statuses: administratorStatuses(200) },
  'branding.setLogo': { send: () => ['PUT', '/branding/logo', createWebpHeader(64, 64), webp], statuses: administratorStatuses(200) },
  'branding.deleteLogo': { send: () => ['DELETE', '/branding/logo'], statuses: administratorStatuses(204) },
});
const admin = shop.admin(['branding.manage', 'audit.read']);
const staff = shop.staff(scopeNames.filter((scope) => scope !== 'branding.manage'));

const path = '/api/v1/branding';

test('an update changes only the given fields, is conditional, and is recorded in the audit log', async () => {
  const before = await shop.callApi('GET', path);
  const etag = before.headers.get('etag') ?? '';
  const change = { name: 'Larkspur', accent_color: '#2F6F4F', help_url: 'https://shop.example/help?topic=1#orders' };
  const changed = await admin.callApi('PATCH', path, { body: change, headers: { 'if-match': etag } });
  expect([changed.status, changed.body]).toEqual([
    200,
    {
      ...before.body,
      ...change,
      accent_color: '#2f6f4f',
      colors: expect.objectContaining({ light: { button: '#2f6f4f', button_text: '#ffffff', link: '#2f6f4f' } }),
      version: before.body.version + 1,
    },
  ]);
  expect((await shop.callApi('GET', path)).headers.get('etag')).toBe(changed.headers.get('etag'));
  const outdated = await admin.callApi('PATCH', path, { body: { name: 'Other' }, headers: { 'if-match': etag } });
  expect([outdated.status, outdated.body.code]).toEqual([412, 'precondition_failed']);
  const cleared = await admin.callApi('PATCH', path, { body: { help_url: null } });
  expect([cleared.body.help_url, cleared.body.name]).toEqual([null, 'Larkspur']);
  const { body } = await admin.callApi('GET', '/api/v1/audit-events?action=branding.changed&limit=1');
  expect(body.data[0]).toMatchObject({ actor_id: admin.id, details: { fields: ['help_url'] } });
});

test('staff cannot obtain the scope', async () => {
  const { status } = await staff.callApi('PATCH', path, { body: { name: 'Other' } });
  expect(status).toBe(403);
});

test.each([
  ['name', ''],
  ['name', 'x'.repeat(61)],
  ['name', 'Lark\u202espur'],
  ['name', null],
  ['accent_color', 'green'],
  ['accent_color', '#fff'],
  ['accent_color', '#2f6f4f; background: url(//evil.example)'],
  ['help_url', 'http://shop.example'],
  ['terms_url', 'javascript:alert(1)'],
  ['privacy_url', 'https://user:password@shop.example/'],
  ['privacy_url', 'https://shop.example/a b'],
  ['email_sender_name', 'Lark\r\nBcc: eve@example.com'],
  ['email_footer', 'x'.repeat(501)],
])('400: %s cannot be %j', async (field, value) => {
  const { status, body } = await admin.callApi('PATCH', path, { body: { [field]: value } });
  expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', `#/${field}`]);
});

test.each(['help', 'terms', 'privacy'])('the error for an invalid %s_url contains an example for this field', async (name) => {
  const { body } = await admin.callApi('PATCH', path, { body: { [`${name}_url`]: 'shop.example' } });
  expect(body.errors[0].detail).toContain(`https://shop.example/${name}`);
});

testLogoUploads({ shop, admin, path: () => path });
