import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteUnusedSelfRegisteredAppsBatch } from '../../../server/access-management/delete-unused-self-registered-apps.ts';
import { startMandateServer, type JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  cliClient,
  redeemCode,
  readOAuthError,
  signUp,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';

const metadata = {
  client_name: 'Open assistant',
  redirect_uris: [cliClient.redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: 'openid orders.read',
};

const shop = withShop({ sampleData: false, openRegistration: true });
const admin = shop.admin(['applications.manage', 'audit.read']);

const newNetwork = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
const sendRegistration = (overrides: object = {}, { network = newNetwork(), headers = {}, origin = shop.origin } = {}): Promise<Response> =>
  fetch(`${origin}/oauth/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': network, ...headers },
    body: JSON.stringify({ ...metadata, ...overrides }),
  });
const registerApplication = async (overrides: object = {}): Promise<JsonBody> => {
  const response = await sendRegistration(overrides);
  expect(response.status).toBe(201);
  return response.json();
};
const findApplication = async (clientId: string): Promise<JsonBody> => {
  const { body } = await shop.callApi('GET', '/api/v1/applications?limit=100', { token: admin.token });
  return body.data.find((one: JsonBody) => one.client_id === clientId);
};

test('an application registers without a token, and its registration type is listed and audited', async () => {
  const registration = await registerApplication();
  expect(registration).toMatchObject({ client_name: 'Open assistant', token_endpoint_auth_method: 'none' });
  expect(registration).not.toHaveProperty('client_secret');
  expect(await findApplication(registration.client_id)).toMatchObject({
    type: 'public',
    registration: 'open_registration',
    first_party: false,
    scopes: expect.arrayContaining(['orders.read']),
    preapproved_scopes: [],
  });
  const { body } = await shop.callApi('GET', '/api/v1/audit-events?action=application.registered', { token: admin.token });
  expect(body.data[0]).toMatchObject({
    subject: `application:${registration.client_id}`,
    actor_id: null,
    details: { registration: 'open_registration', scopes: expect.arrayContaining(['orders.read']) },
  });
});

test('the server metadata contains the registration endpoint', async () => {
  const document: JsonBody = await (await fetch(`${shop.origin}/.well-known/oauth-authorization-server`)).json();
  expect(document).toMatchObject({ registration_endpoint: `${shop.origin}/oauth/registration` });
});

test('an application that registers with the scopes of its first request can request other scopes later', async () => {
  const { client_id: clientId, scope } = await registerApplication({ scope: 'orders.read' });
  expect(scope.split(' ')).toEqual(expect.arrayContaining(['orders.read', 'orders.write']));
  expect(scope).not.toMatch(/manage|api_keys|webhooks.write|connected_apps.write/);
  const request = { client_id: clientId, scope: 'orders.read orders.write' };
  const tokens = await redeemCode(shop.origin, await obtainAuthorizationCode(shop.origin, await signUp(shop.origin), request));
  const body: JsonBody = await tokens.json();
  expect(body.scope.split(' ')).toContain('orders.write');
});

test('a registration without an authentication method and scopes gets the defaults for a public assistant', async () => {
  const registration = await registerApplication({ token_endpoint_auth_method: undefined, scope: undefined });
  expect(registration).toMatchObject({ token_endpoint_auth_method: 'none', scope: expect.stringContaining('orders.write') });
  expect(registration.scope).not.toMatch(/manage|api_keys|webhooks.write|connected_apps.write/);
});

test.each([
  ['a client secret', { token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
  ['administrative scopes', { scope: 'openid users.manage' }, 'invalid_client_metadata'],
  [
    'the client credentials grant',
    { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
    'invalid_client_metadata',
  ],
  ['the device grant', { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] }, 'invalid_client_metadata'],
  ['a URL that the server would request', { jwks_uri: 'https://dev.example/keys' }, 'invalid_client_metadata'],
  ['a redirect URI with http', { redirect_uris: ['http://evil.example/'] }, 'invalid_redirect_uri'],
])('a registration with %s is rejected', async (_field, overrides, error) => {
  expect(await readOAuthError(await sendRegistration(overrides))).toBe(`400 ${error}`);
});

test('an invalid initial access token is rejected, not ignored', async () => {
  expect(await readOAuthError(await sendRegistration({}, { headers: { authorization: 'Bearer mr_wrong' } }))).toBe('401 invalid_token');
});

test('a registration leaves no initial access token in the database', async () => {
  await registerApplication();
  const remainingRecords = await shop.db.em.fork().execute(`select 1 from oauth_records where model = 'InitialAccessToken'`);
  expect(remainingRecords).toEqual([]);
});

test('a network can register 20 applications per hour', async () => {
  const network = newNetwork();
  const statuses = [];
  for (let n = 0; n < 21; n += 1) statuses.push((await sendRegistration({}, { network })).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 429]);
  const refused = await sendRegistration({}, { network });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
  expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
  expect((await sendRegistration()).status).toBe(201);
});

describe('users of self-registered applications', () => {
  test('must consent at every sign-in, and are warned about local programs', async () => {
    const redirectUri = 'https://open.example/callback';
    const { client_id: clientId } = await registerApplication({ redirect_uris: [redirectUri] });
    const anna = await signUp(shop.origin);
    const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid orders.read' };
    const tokens = tokenResponseSchema.parse(
      await (await redeemCode(shop.origin, await obtainAuthorizationCode(shop.origin, anna, request))).json(),
    );
    expect((await shop.callApi('GET', '/api/v1/orders', { token: tokens.access_token })).status).toBe(200);
    const consentPage = await anna.browser.open(authorizationPath(buildAuthorizationRequest(request).query));
    expect(consentPage.url.pathname).toMatch(/^\/consent\//);
    const native = await registerApplication({ redirect_uris: ['http://127.0.0.1/callback'], application_type: 'native' });
    const page = await anna.browser.open(authorizationPath(buildAuthorizationRequest({ client_id: native.client_id }).query));
    expect(page.text).toContain('Any program on this computer can use this application’s name.');
  });

  test('must consent even after an administrator has changed the application, because preapproval is rejected', async () => {
    const { client_id: clientId } = await registerApplication();
    const { id } = await findApplication(clientId);
    for (const [field, value] of Object.entries({ preapproved_scopes: ['orders.read'], scopes: ['users.manage'] })) {
      const refused = await shop.callApi('PATCH', `/api/v1/applications/${id}`, { token: admin.token, body: { [field]: value } });
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, `#/${field}`]);
    }
    const renamed = await shop.callApi('PATCH', `/api/v1/applications/${id}`, {
      token: admin.token,
      body: { name: 'Known assistant' },
    });
    expect(renamed.body.name).toBe('Known assistant');
  });

  test('keep applications in use when unused applications are removed', async () => {
    const [unused, used] = [await registerApplication(), await registerApplication()];
    const anna = await signUp(shop.origin);
    await redeemCode(shop.origin, await obtainAuthorizationCode(shop.origin, anna, { client_id: used.client_id }));
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    for (let removed = 1; removed > 0;) removed = await deleteUnusedSelfRegisteredAppsBatch(shop.db.em.fork(), inDays(1.1));
    expect([await findApplication(unused.client_id), await findApplication(used.client_id)]).toEqual([undefined, expect.anything()]);
    for (let removed = 1; removed > 0;) removed = await deleteUnusedSelfRegisteredAppsBatch(shop.db.em.fork(), inDays(91));
    expect(await findApplication(used.client_id)).toBeUndefined();
  });
});

test('a server without open registration requires an initial access token', async () => {
  const serverWithoutOpenRegistration = await startMandateServer();
  expect((await sendRegistration({}, { origin: serverWithoutOpenRegistration.origin })).status).toBe(401);
  await serverWithoutOpenRegistration.close();
});
