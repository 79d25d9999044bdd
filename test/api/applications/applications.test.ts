import { describe, expect, test } from 'vitest';
import { createSquarePngDataUri } from '../../support/browser/square-png.ts';
import type { ApiResponse, JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  sendTokenRequest,
  buildAuthorizationRequest,
  authorizationPath,
  basicAuthorization,
  obtainClientToken,
  readOAuthError,
  signUp,
  signUpWithRole,
  obtainTokens,
} from '../../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false });
const admin = shop.admin(['applications.manage', 'audit.read']);

const call = (method: string, path = '', body?: unknown, as = admin.token): Promise<ApiResponse> =>
  shop.callApi(method, `/api/v1/applications${path}`, { token: as, ...(body !== undefined && { body }) });
const website = {
  name: 'Some website',
  type: 'confidential',
  redirect_uris: ['https://app.example/callback'],
  scopes: ['orders.read', 'users.read'],
  grant_types: ['authorization_code', 'refresh_token'],
};
const machine = {
  name: 'Some machine',
  type: 'confidential',
  redirect_uris: [],
  scopes: ['users.manage'],
  grant_types: ['client_credentials'],
};
const create = async (overrides: object = {}): Promise<JsonBody> => {
  const response = await call('POST', '', { ...website, ...overrides });
  expect([response.status, response.text]).toEqual([201, expect.any(String)]);
  return response.body;
};
const uris = (count: number): string[] => Array.from({ length: count }, (_, nth) => `https://app.example/callback/${nth}`);
const apiStatus = async (bearer: string): Promise<number> =>
  (await fetch(`${shop.origin}/api/v1/users/987654`, { headers: { authorization: `Bearer ${bearer}` } })).status;

describe('POST /applications', () => {
  test('registers an application, and returns its secret once', async () => {
    const response = await call('POST', '', machine);
    expect(response.body).toMatchObject({ ...machine, status: 'active', first_party: false, redirect_uris: [], version: 1 });
    expect(response.headers.get('location')).toBe(`/api/v1/applications/${response.body.id}`);
    const { client_id: clientId, client_secret: secret } = response.body;
    expect(clientId).toMatch(/^app-[0-9a-f]{16}$/);
    expect(await apiStatus(await obtainClientToken(shop.origin, { clientId, secret }, ['users.manage']))).toBe(404);
    expect((await call('GET', `/${response.body.id}`)).body).not.toHaveProperty('client_secret');
  });

  test('sets the refresh grace period, and resets it to the default', async () => {
    expect((await create()).refresh_grace_seconds).toBeNull();
    const { id, refresh_grace_seconds: seconds } = await create({ refresh_grace_seconds: 0 });
    expect(seconds).toBe(0);
    expect((await call('PATCH', `/${id}`, { refresh_grace_seconds: 300 })).body.refresh_grace_seconds).toBe(300);
    expect((await call('PATCH', `/${id}`, { refresh_grace_seconds: null })).body.refresh_grace_seconds).toBeNull();
  });

  test('sets the URL for logout tokens, and removes it', async () => {
    expect((await create()).backchannel_logout_uri).toBeNull();
    const { id, backchannel_logout_uri: url } = await create({ backchannel_logout_uri: 'https://app.example/logout' });
    expect(url).toBe('https://app.example/logout');
    const development = { backchannel_logout_uri: 'http://localhost:3000/logout' };
    expect((await call('PATCH', `/${id}`, development)).body).toMatchObject(development);
    expect((await call('PATCH', `/${id}`, { backchannel_logout_uri: null })).body.backchannel_logout_uri).toBeNull();
    const refused = await call('PATCH', `/${id}`, { backchannel_logout_uri: 'https://10.0.0.1/logout' });
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '#/backchannel_logout_uri']);
  });

  test('sets the links of the consent page, and removes them', async () => {
    const links = { policy_uri: 'https://app.example/privacy?lang=en#data', tos_uri: 'https://legal.example/terms' };
    expect(await create()).toMatchObject({ policy_uri: null, tos_uri: null });
    const { id, ...created } = await create(links);
    expect(created).toMatchObject(links);
    expect((await call('PATCH', `/${id}`, { tos_uri: null })).body).toMatchObject({ ...links, tos_uri: null });
  });

  test.each(['allow_nonce_instead_of_pkce', 'allow_neither_pkce_nor_nonce'])(
    'sets %s only for a confidential application, and not by default',
    async (field) => {
      expect((await create())[field]).toBe(false);
      const { id, [field]: allowed } = await create({ [field]: true });
      expect(allowed).toBe(true);
      expect((await call('PATCH', `/${id}`, { [field]: false })).body[field]).toBe(false);
      const publicApp = await create({ type: 'public' });
      const rejected = await call('PATCH', `/${publicApp.id}`, { [field]: true });
      expect([rejected.status, rejected.body.errors[0].pointer]).toEqual([400, `#/${field}`]);
    },
  );

  test('accepts ten URIs of each kind', async () => {
    const tenUris = { redirect_uris: uris(10), post_logout_redirect_uris: uris(10) };
    expect(await create(tenUris)).toMatchObject(tenUris);
  });

  test('returns no secret for a public application, and accepts a client_id once', async () => {
    const overrides = { type: 'public', client_id: 'my-app', redirect_uris: ['com.example.app:/cb'] };
    expect((await create(overrides)).client_secret).toBeNull();
    const again = await call('POST', '', { ...website, ...overrides });
    expect([again.status, again.body.code, again.body.errors[0].pointer]).toEqual([409, 'client_id_taken', '#/client_id']);
  });

  test.each([
    ['plain http', { redirect_uris: ['http://app.example/cb'] }, '#/redirect_uris'],
    ['a wildcard', { redirect_uris: ['https://*.app.example/cb'] }, '#/redirect_uris'],
    ['a fragment', { redirect_uris: ['https://app.example/cb#x'] }, '#/redirect_uris'],
    ['an eleventh redirect URI', { redirect_uris: uris(11) }, '#/redirect_uris'],
    ['an eleventh post-logout redirect URI', { post_logout_redirect_uris: uris(11) }, '#/post_logout_redirect_uris'],
    ['an invalid post-logout redirect URI', { post_logout_redirect_uris: ['javascript:alert(1)'] }, '#/post_logout_redirect_uris'],
    ['http for logout tokens', { backchannel_logout_uri: 'http://app.example/logout' }, '#/backchannel_logout_uri'],
    ['an IP address for logout tokens', { backchannel_logout_uri: 'https://93.184.216.34/logout' }, '#/backchannel_logout_uri'],
    ['an internal host for logout tokens', { backchannel_logout_uri: 'https://shop.internal/logout' }, '#/backchannel_logout_uri'],
    ['a fragment in the URL for logout tokens', { backchannel_logout_uri: 'https://app.example/#x' }, '#/backchannel_logout_uri'],
    [
      'a URL for logout tokens of a machine',
      { ...machine, backchannel_logout_uri: 'https://app.example/logout' },
      '#/backchannel_logout_uri',
    ],
    ['an http URL as a link', { policy_uri: 'http://app.example/privacy' }, '#/policy_uri'],
    ['a script as a link', { tos_uri: 'javascript:alert(1)' }, '#/tos_uri'],
    ['a password in a link', { tos_uri: 'https://anna:secret@app.example/terms' }, '#/tos_uri'],
    ['no redirect URI for the authorization code grant', { redirect_uris: [] }, '#/redirect_uris'],
    ['client credentials for a public application', { ...machine, type: 'public' }, '#/grant_types'],
    ['a pre-approved scope that is not allowed', { preapproved_scopes: ['orders.write'] }, '#/preapproved_scopes'],
    ['a grace period over five minutes', { refresh_grace_seconds: 301 }, '#/refresh_grace_seconds'],
    ['a negative grace period', { refresh_grace_seconds: -1 }, '#/refresh_grace_seconds'],
    [
      'a nonce instead of PKCE for a public application',
      { type: 'public', allow_nonce_instead_of_pkce: true },
      '#/allow_nonce_instead_of_pkce',
    ],
    [
      'neither PKCE nor a nonce for a public application',
      { type: 'public', allow_neither_pkce_nor_nonce: true },
      '#/allow_neither_pkce_nor_nonce',
    ],
    ['an unknown scope', { scopes: ['everything'] }, '#/scopes/0'],
    ['an unknown grant', { grant_types: ['password'] }, '#/grant_types/0'],
    ['a logo over http', { logo_uri: 'http://app.example/logo.png' }, '#/logo_uri'],
    ['a logo that is not an image', { logo_uri: `data:image/png;base64,${Buffer.from('x'.repeat(100)).toString('base64')}` }, '#/logo_uri'],
    ['a logo that can contain scripts', { logo_uri: 'data:image/svg+xml;base64,PHN2Zy8+' }, '#/logo_uri'],
    ['a logo with too many pixels', { logo_uri: createSquarePngDataUri(513) }, '#/logo_uri'],
    ['an id that could be a user id', { client_id: '4711' }, '#/client_id'],
    ['an id that could be an API key id', { client_id: 'api-key-5' }, '#/client_id'],
    ['a secret chosen by the client', { client_secret: 'x' }, '#/client_secret'],
  ])('rejects %s', async (_label, overrides, pointer) => {
    const response = await call('POST', '', { ...website, ...overrides });
    expect([response.status, response.body.code, response.body.errors[0].pointer]).toEqual([400, 'invalid_request', pointer]);
  });

  test('requires an administrator', async () => {
    const demoted = await signUpWithRole(shop.db, shop.origin, 'admin');
    const staff = await obtainTokens(shop.origin, demoted, ['applications.manage']);
    await shop.db.em.fork().execute(`update users set role = 'staff' where id = ?`, [demoted.id]);
    const person = await shop.createAccount('customer', ['users.read']);
    for (const path of ['', '/1']) {
      expect((await call('GET', path, undefined, staff.access_token)).body.code).toBe('forbidden');
      expect((await call('GET', path, undefined, person.token)).body.code).toBe('insufficient_scope');
    }
    expect((await call('POST', '', website, staff.access_token)).status).toBe(403);
    expect((await call('DELETE', '/1', undefined, staff.access_token)).status).toBe(403);
  });
});

test('GET /applications: newest first, in pages, without secrets', async () => {
  const applications = [await create(), await create(), await create()];
  const first = await call('GET', '?limit=2');
  expect(first.body.data.map(({ id }: JsonBody) => id)).toEqual([applications[2].id, applications[1].id]);
  const next = await call('GET', `?limit=2&cursor=${first.body.next_cursor}`);
  expect(next.body.data[0].id).toBe(applications[0].id);
  expect(first.text).not.toMatch(/"client_secret"|hash|ms_/);
  expect((await call('GET', '/987654')).body.code).toBe('not_found');
});

describe('PATCH /applications/{application_id}', () => {
  test('changes the given fields from the next request on', async () => {
    const app = await create();
    const changed = await call('PATCH', `/${app.id}`, { name: 'Another name', redirect_uris: ['https://app.example/other'] });
    expect(changed.body).toMatchObject({
      name: 'Another name',
      redirect_uris: ['https://app.example/other'],
      scopes: app.scopes,
      version: 2,
    });
    const old = buildAuthorizationRequest({ client_id: app.client_id, redirect_uri: website.redirect_uris[0] ?? '' }).query;
    expect((await fetch(shop.origin + authorizationPath(old), { redirect: 'manual' })).status).toBe(400);
  });

  test('status disabled: rejects new and existing tokens immediately', async () => {
    const app = await create(machine);
    const client = { clientId: app.client_id, secret: app.client_secret };
    const clientToken = await obtainClientToken(shop.origin, client, ['users.manage']);
    expect(await apiStatus(clientToken)).toBe(404);
    expect((await call('PATCH', `/${app.id}`, { status: 'disabled' })).body.status).toBe('disabled');
    expect(await apiStatus(clientToken)).toBe(401);
    const form = { grant_type: 'client_credentials' };
    expect(await readOAuthError(await sendTokenRequest(shop.origin, form, basicAuthorization(client.clientId, client.secret)))).toBe(
      '401 invalid_client',
    );
    await call('PATCH', `/${app.id}`, { status: 'active' });
    expect(await apiStatus(clientToken)).toBe(404);
  });

  test('rejects an invalid combination, and changes nothing', async () => {
    const app = await create();
    const response = await call('PATCH', `/${app.id}`, { name: 'Changed', redirect_uris: [] });
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, '#/redirect_uris']);
    expect((await call('GET', `/${app.id}`)).body.name).toBe(website.name);
    expect((await call('PATCH', '/987654', { name: 'x' })).status).toBe(404);
  });

  test('pre-approved scopes need no consent, and other scopes do', async () => {
    const app = await create({ preapproved_scopes: ['openid', 'users.read'] });
    expect((await call('GET', `/${app.id}`)).body.preapproved_scopes).toEqual(['openid', 'users.read']);
    const { browser } = await signUp(shop.origin);
    const openAuthorization = (scope: string) =>
      browser.open(
        authorizationPath(
          buildAuthorizationRequest({ client_id: app.client_id, redirect_uri: 'https://app.example/callback', scope }).query,
        ),
      );
    expect((await openAuthorization('openid users.read')).externalRedirect?.searchParams.get('code')).toBeTruthy();
    expect((await openAuthorization('openid users.read orders.read')).url.pathname).toMatch(/^\/consent\//);
    await call('PATCH', `/${app.id}`, { preapproved_scopes: [] });
    expect((await openAuthorization('openid users.read')).url.pathname).toMatch(/^\/consent\//);
  });

  test('pre-approval grants no staff scope to a customer', async () => {
    const app = await create({ scopes: ['users.manage', 'users.read'], preapproved_scopes: ['openid', 'users.manage'] });
    const { browser } = await signUp(shop.origin);
    const request = buildAuthorizationRequest({
      client_id: app.client_id,
      redirect_uri: 'https://app.example/callback',
      scope: 'openid users.manage',
    });
    const page = await browser.open(authorizationPath(request.query));
    expect(page.text).not.toContain('value="users.manage"');
    const { externalRedirect: leaves } = page.externalRedirect ? page : await browser.submit(page, { decision: 'allow' });
    const form = { grant_type: 'authorization_code', code: leaves?.searchParams.get('code') ?? '', code_verifier: request.verifier };
    const response = await sendTokenRequest(
      shop.origin,
      { ...form, redirect_uri: 'https://app.example/callback' },
      basicAuthorization(app.client_id, app.client_secret),
    );
    expect(await response.text()).not.toContain('users.manage');
  });
});

test('DELETE /applications/{application_id}: revokes its tokens and deletes its grants', async () => {
  const app = await create(machine);
  const clientToken = await obtainClientToken(shop.origin, { clientId: app.client_id, secret: app.client_secret }, ['users.manage']);
  expect((await call('DELETE', `/${app.id}`)).status).toBe(204);
  expect(await apiStatus(clientToken)).toBe(401);
  expect((await call('DELETE', `/${app.id}`)).status).toBe(404);
  const remainingRecords = await shop.db.em.fork().execute<object[]>('select 1 from oauth_records where client_id = ?', [app.client_id]);
  expect(remainingRecords).toEqual([]);
});

describe('POST /applications/{application_id}/secret-rotations', () => {
  test('both secrets are valid until the overlap ends', async () => {
    const app = await create(machine);
    const rotated = await call('POST', `/${app.id}/secret-rotations`, { overlap_seconds: 3600 });
    expect(rotated.status).toBe(201);
    expect(Date.parse(rotated.body.previous_secret_expires_at) - Date.now()).toBeCloseTo(3_600_000, -5);
    const tokenStatus = async (secret: string) =>
      (await sendTokenRequest(shop.origin, { grant_type: 'client_credentials' }, basicAuthorization(app.client_id, secret))).status;
    expect([await tokenStatus(app.client_secret), await tokenStatus(rotated.body.client_secret)]).toEqual([200, 200]);
    await shop.db.em.fork().execute('update applications set previous_secret_until = now() where id = ?', [app.id]);
    expect([await tokenStatus(app.client_secret), await tokenStatus(rotated.body.client_secret)]).toEqual([401, 200]);
    const at = await call('POST', `/${app.id}/secret-rotations`, { overlap_seconds: 0 });
    expect([await tokenStatus(rotated.body.client_secret), await tokenStatus(at.body.client_secret)]).toEqual([401, 200]);
  });

  test('returns an error for a public application', async () => {
    const app = await create({ type: 'public' });
    expect((await call('POST', `/${app.id}/secret-rotations`, {})).body.code).toBe('application_has_no_secret');
    expect((await call('POST', '/987654/secret-rotations', {})).body.code).toBe('not_found');
  });
});

test('application changes are audited without secrets', async () => {
  const app = await create(machine);
  const { client_secret: secret } = (await call('POST', `/${app.id}/secret-rotations`, {})).body;
  await call('DELETE', `/${app.id}`);
  const log = await shop.callApi('GET', '/api/v1/audit-events?limit=10', { token: admin.token });
  const actions = log.body.data
    .filter(({ subject }: JsonBody) => subject === `application:${app.client_id}`)
    .map(({ action }: JsonBody) => action);
  expect(actions).toEqual(['application.deleted', 'application.secret_rotated', 'application.created']);
  expect(log.text).not.toContain(secret);
});
