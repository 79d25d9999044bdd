import { scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { createSquarePngDataUri } from '../../support/browser/png-data-uri.ts';
import { administratorStatuses, publicStatuses, testAuthorization } from '../../support/shop/authorization-matrix.ts';
import { createWebpHeader } from '../../support/shop/minimal-webp.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';

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
const pngBytes = (width: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(createSquarePngDataUri(width).split(',')[1] ?? '', 'base64'));

const readJson = async (response: Response): Promise<JsonBody> => JSON.parse(await response.text());

const putLogo = (body: Uint8Array<ArrayBuffer> | string, contentType = 'image/png'): Promise<Response> =>
  fetch(`${shop.origin}${path}/logo`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': contentType },
    body,
  });

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

describe('the logo', () => {
  test('is served under a URL that changes with the image, with headers that prevent its use as a page', async () => {
    const set = await putLogo(pngBytes(64));
    const branding = await readJson(set);
    expect([set.status, branding]).toEqual([200, (await shop.callApi('GET', path)).body]);
    expect(branding.logo).toEqual({
      url: expect.stringMatching(/\/assets\/logo-[0-9a-f]{32}\.png$/),
      media_type: 'image/png',
      width: 64,
      height: 64,
    });
    const served = await fetch(branding.logo.url);
    expect(new Uint8Array(await served.arrayBuffer())).toEqual(pngBytes(64));
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': `default-src 'none'; sandbox`,
    });
    const { logo: replaced } = await readJson(await putLogo(pngBytes(128)));
    expect([replaced.width, replaced.url === branding.logo.url]).toEqual([128, false]);
    expect((await fetch(branding.logo.url)).status).toBe(404);
    expect((await admin.callApi('DELETE', `${path}/logo`)).status).toBe(204);
    expect([(await fetch(replaced.url)).status, (await shop.callApi('GET', path)).body.logo]).toEqual([404, null]);
  });

  test('has no ETag, so a precondition has no effect', async () => {
    const headers = { 'if-match': '"another"' };
    const set = await admin.callApi('PUT', `${path}/logo`, { body: createWebpHeader(64, 64), headers: { ...headers, ...webp } });
    expect([set.status, set.headers.get('etag')]).toEqual([200, null]);
    expect((await admin.callApi('DELETE', `${path}/logo`, { headers })).status).toBe(204);
  });

  test('has the media type of its content, whatever the request declares', async () => {
    const { logo } = await readJson(await putLogo(pngBytes(32), 'image/webp'));
    expect([logo.media_type, (await fetch(logo.url)).headers.get('content-type')]).toEqual(['image/png', 'image/png']);
  });

  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`;
  test.each([
    ['an SVG', svg, 400, 'invalid_request'],
    ['HTML', '<html><script>alert(1)</script></html>', 400, 'invalid_request'],
    ['an empty file', '', 400, 'invalid_request'],
    ['a truncated header', pngBytes(64).slice(0, 20), 400, 'invalid_request'],
    ['a JPEG without size', new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xd9]), 400, 'invalid_request'],
    ['an image that is too small', pngBytes(15), 400, 'invalid_request'],
    ['an image that is too wide', createWebpHeader(2049, 64), 400, 'invalid_request'],
    ['a file that is too large', new Uint8Array(262_145), 413, 'payload_too_large'],
  ])('cannot be %s', async (_, content, status, code) => {
    const response = await putLogo(content);
    expect([response.status, (await readJson(response)).code]).toEqual([status, code]);
  });

  test('cannot have the media type of an SVG', async () => {
    const response = await putLogo(svg, 'image/svg+xml');
    expect([response.status, (await readJson(response)).code]).toEqual([415, 'unsupported_media_type']);
  });

  test('cannot be too large if the request has no Content-Length', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < 5; at += 1) controller.enqueue(new Uint8Array(65_536));
        controller.close();
      },
    });
    const headers = { authorization: `Bearer ${admin.token}`, 'content-type': 'image/png' };
    const response = await fetch(`${shop.origin}${path}/logo`, { method: 'PUT', headers, body, duplex: 'half' });
    expect([response.status, (await readJson(response)).code]).toEqual([413, 'payload_too_large']);
  });
});
