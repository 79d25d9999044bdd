import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteUnusedApplicationsBatch } from '../../../server/access-management/delete-unused-applications.ts';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import {
  authorizationRequest,
  authorize,
  authorizePath,
  commandLine,
  redeem,
  refusal,
  signUp,
  signUpAs,
  tokenResponse,
  tokensFor,
} from '../../support/oauth/oauth-flow.ts';

const metadata = {
  client_name: 'Open assistant',
  redirect_uris: [commandLine.redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: 'openid orders.read',
};

let mandate: Mandate;
let token: string;
beforeAll(async () => {
  mandate = await startMandate({ openRegistration: true });
  token = (await tokensFor(mandate.origin, await signUpAs(mandate.db, mandate.origin, 'admin'), ['applications.manage', 'audit.read']))
    .access_token;
});
afterAll(() => mandate.close());

const newNetwork = (): string => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
const register = (given: object = {}, { network = newNetwork(), headers = {}, origin = mandate.origin } = {}): Promise<Response> =>
  fetch(`${origin}/oauth/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': network, ...headers },
    body: JSON.stringify({ ...metadata, ...given }),
  });
const registered = async (given: object = {}): Promise<Body> => {
  const response = await register(given);
  expect(response.status).toBe(201);
  return response.json();
};
const application = async (clientId: string): Promise<Body> => {
  const { body } = await mandate.call('GET', '/api/v1/applications?limit=100', { token });
  return body.data.find((one: Body) => one.client_id === clientId);
};

test('an application registers without a token, is listed with its origin, and leaves an audit event', async () => {
  const answer = await registered();
  expect(answer).toMatchObject({ client_name: 'Open assistant', token_endpoint_auth_method: 'none', scope: 'openid orders.read' });
  expect(answer).not.toHaveProperty('client_secret');
  expect(await application(answer.client_id)).toMatchObject({
    type: 'public',
    registration: 'open_registration',
    first_party: false,
    scopes: ['orders.read'],
    preapproved_scopes: [],
  });
  const { body } = await mandate.call('GET', '/api/v1/audit-events?action=application.registered', { token });
  expect(body.data[0]).toMatchObject({
    subject: `application:${answer.client_id}`,
    actor_id: null,
    details: { registration: 'open_registration', scopes: ['orders.read'] },
  });
});

test('the metadata of the server names the endpoint', async () => {
  const document: Body = await (await fetch(`${mandate.origin}/.well-known/oauth-authorization-server`)).json();
  expect(document).toMatchObject({ registration_endpoint: `${mandate.origin}/oauth/registration` });
});

test('what is left out is filled in: a public client with the scopes of an assistant', async () => {
  const answer = await registered({ token_endpoint_auth_method: undefined, scope: undefined });
  expect(answer).toMatchObject({ token_endpoint_auth_method: 'none', scope: expect.stringContaining('orders.write') });
  expect(answer.scope).not.toMatch(/manage|api_keys|webhooks.write|connected_apps.write/);
});

test.each([
  ['a secret', { token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
  ['administrative scopes', { scope: 'openid users.manage' }, 'invalid_client_metadata'],
  ['to act for itself', { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }, 'invalid_client_metadata'],
  ['the device grant', { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] }, 'invalid_client_metadata'],
  ['a URL that the server would request', { jwks_uri: 'https://dev.example/keys' }, 'invalid_client_metadata'],
  ['a redirect over http', { redirect_uris: ['http://evil.example/'] }, 'invalid_redirect_uri'],
])('is refused %s', async (_what, given, error) => {
  expect(await refusal(await register(given))).toBe(`400 ${error}`);
});

test('a wrong initial access token is refused, not ignored', async () => {
  expect(await refusal(await register({}, { headers: { authorization: 'Bearer mr_wrong' } }))).toBe('401 invalid_token');
});

test('nothing that a registration used is left behind', async () => {
  await registered();
  const left = await mandate.db.em.fork().execute(`select 1 from oauth_records where model = 'InitialAccessToken'`);
  expect(left).toEqual([]);
});

test('one network registers 20 applications an hour', async () => {
  const network = newNetwork();
  const statuses = [];
  for (let n = 0; n < 21; n += 1) statuses.push((await register({}, { network })).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 429]);
  const refused = await register({}, { network });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
  expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
  expect((await register()).status).toBe(201);
});

describe('users', () => {
  test('are asked at every sign-in, and warned that any program could ask', async () => {
    const redirectUri = 'https://open.example/callback';
    const { client_id: clientId } = await registered({ redirect_uris: [redirectUri] });
    const anna = await signUp(mandate.origin);
    const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid orders.read' };
    const tokens = tokenResponse.parse(await (await redeem(mandate.origin, await authorize(mandate.origin, anna, request))).json());
    expect((await mandate.call('GET', '/api/v1/orders', { token: tokens.access_token })).status).toBe(200);
    const again = await anna.browser.open(authorizePath(authorizationRequest(request).query));
    expect(again.url.pathname).toMatch(/^\/consent\//);
    const native = await registered({ redirect_uris: ['http://127.0.0.1/callback'], application_type: 'native' });
    const page = await anna.browser.open(authorizePath(authorizationRequest({ client_id: native.client_id }).query));
    expect(page.text).toContain('Any program on this computer can use the name of this application.');
  });

  test('cannot be signed in silently after an administrator changed the application: self-registered ones get no approval', async () => {
    const { client_id: clientId } = await registered();
    const { id } = await application(clientId);
    for (const [field, value] of Object.entries({ preapproved_scopes: ['orders.read'], scopes: ['users.manage'] })) {
      const refused = await mandate.call('PATCH', `/api/v1/applications/${id}`, { token, body: { [field]: value } });
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, `#/${field}`]);
    }
    const renamed = await mandate.call('PATCH', `/api/v1/applications/${id}`, { token, body: { name: 'Known assistant' } });
    expect(renamed.body.name).toBe('Known assistant');
  });

  test('lose nothing when unused registrations are removed', async () => {
    const [unused, used] = [await registered(), await registered()];
    const anna = await signUp(mandate.origin);
    await redeem(mandate.origin, await authorize(mandate.origin, anna, { client_id: used.client_id }));
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    for (let removed = 1; removed > 0;) removed = await deleteUnusedApplicationsBatch(mandate.db.em.fork(), inDays(1.1));
    expect([await application(unused.client_id), await application(used.client_id)]).toEqual([undefined, expect.anything()]);
    for (let removed = 1; removed > 0;) removed = await deleteUnusedApplicationsBatch(mandate.db.em.fork(), inDays(91));
    expect(await application(used.client_id)).toBeUndefined();
  });
});

test('without the setting a registration needs an initial access token', async () => {
  const closed = await startMandate();
  expect((await register({}, { origin: closed.origin })).status).toBe(401);
  await closed.close();
});
