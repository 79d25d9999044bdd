import { describe, expect, test } from 'vitest';
import { createRegistrationToken } from '../../../server/access-management/create-registration-token.ts';
import { expectHarmlessResponse, countCheckedResponses, hostileParameters } from '../../support/network/hostile-inputs.ts';
import { buildAuthorizationRequest, basicAuthorization, createWebApplication } from '../../support/oauth/oauth-flow.ts';
import { hostileInputsForDatabase as hostileInputs, scaleRequestCount } from '../../support/services/hostile-inputs-for-database.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

/** Sends each parameter with each hostile value, first once, and then with duplicates of the parameter (`name`, `name[]` and `name[y]`). */
async function sendHostileParameters(
  names: readonly string[],
  validParameters: Record<string, string>,
  send: (form: URLSearchParams) => Promise<Response>,
): Promise<void> {
  for (const name of names) {
    for (const value of hostileInputs) {
      const description = `${name}=${JSON.stringify(value.slice(0, 20))}`;
      const form = new URLSearchParams({ ...validParameters, [name]: value });
      await expectHarmlessResponse(description, await send(form));
      form.append(name, 'again');
      form.append(`${name}[]`, 'x');
      form.append(`${name}[y]`, 'z');
      await expectHarmlessResponse(`${description} twice`, await send(form));
    }
  }
}

const requestParameters = [
  ...hostileParameters,
  'claims',
  'resource',
  'code_challenge',
  'request',
  'request_uri',
  'dpop_jkt',
  'id_token_hint',
];

describe.each([
  ['par', requestParameters],
  ['device-authorization', ['client_id', 'scope', 'resource', 'claims', 'prompt', 'max_age', 'code_challenge', 'client_secret']],
])('the endpoint %s', (endpoint, names) => {
  test('never returns a server error for hostile input', { timeout: 60_000 }, async () => {
    const app = await createWebApplication(server.db, ['orders.read']);
    const { query } = buildAuthorizationRequest({ client_id: app.clientId, redirect_uri: app.redirectUri });
    const post = (headers: Record<string, string>) => (body: URLSearchParams) =>
      fetch(`${server.origin}/oauth/${endpoint}`, { method: 'POST', body, headers });
    await sendHostileParameters(names, query, post({}));
    await sendHostileParameters(names, query, post(basicAuthorization(app.clientId, app.secret)));
    expect(server.warnings).toEqual([]);
  });
});

test('the token endpoint and the API never return a server error for a hostile DPoP header', async () => {
  for (const value of ['x', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', `${'x'.repeat(5000)}.y.z`, '{}', ',']) {
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', client_id: 'mandate-cli' });
    await expectHarmlessResponse(value, await fetch(`${server.origin}/oauth/token`, { method: 'POST', body, headers: { dpop: value } }));
    const headers = { dpop: value, authorization: 'DPoP a.b.c' };
    await expectHarmlessResponse(value, await fetch(`${server.origin}/api/v1/users/me`, { headers }));
  }
  expect(server.warnings).toEqual([]);
});

test('the registration endpoint never returns a server error for hostile input', { timeout: 60_000 }, async () => {
  const { token } = await createRegistrationToken(server.db.em, 600, new Date());
  const register = (body: string, type = 'application/json') =>
    fetch(`${server.origin}/oauth/registration`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, authorization: `Bearer ${token}` },
    });
  const validParameters = {
    client_name: 'Hostile',
    redirect_uris: ['https://dev.example/cb'],
    scope: 'openid',
    grant_types: ['authorization_code'],
  };
  const names = [
    'client_name',
    'redirect_uris',
    'scope',
    'grant_types',
    'response_types',
    'token_endpoint_auth_method',
    'logo_uri',
    'application_type',
    'post_logout_redirect_uris',
    'backchannel_logout_uri',
    'backchannel_logout_session_required',
    'jwks',
    'jwks_uri',
    'sector_identifier_uri',
    'client_id',
    'client_secret',
    'default_acr_values',
    'contacts',
  ];
  for (const name of names) {
    for (const value of [...hostileInputs, 7, null, true, {}, [], [[]], [7], [null], ['a\0b'], [...hostileInputs], { a: { b: 1 } }]) {
      await expectHarmlessResponse(
        `${name}=${JSON.stringify(value)?.slice(0, 40)}`,
        await register(JSON.stringify({ ...validParameters, [name]: value })),
      );
    }
  }
  for (const body of ['', '{', '[]', 'null', '"x"', '{"client_name":"\\ud800"}', `{"client_name":"${'x'.repeat(100_000)}"}`])
    await expectHarmlessResponse(body.slice(0, 20), await register(body));
  await expectHarmlessResponse('a form', await register('client_name=x', 'application/x-www-form-urlencoded'));
  expect(server.warnings).toEqual([]);
});

test.each([
  '/oauth/logout',
  '/oauth/userinfo',
  '/oauth/jwks',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-protected-resource/api',
])('%s never returns a server error for hostile input', async (path) => {
  for (const name of [
    'id_token_hint',
    'client_id',
    'post_logout_redirect_uri',
    'state',
    'ui_locales',
    'logout_hint',
    'access_token',
    'xsrf',
  ]) {
    for (const value of hostileInputs) {
      const query = new URLSearchParams({ [name]: value }).toString();
      await expectHarmlessResponse(`${path} ${name}`, await fetch(`${server.origin}${path}?${query}&${query}`, { redirect: 'manual' }));
      await expectHarmlessResponse(
        `${path} ${name}`,
        await fetch(`${server.origin}${path}`, { method: 'POST', body: new URLSearchParams({ [name]: value }), redirect: 'manual' }),
      );
    }
  }
  expect(server.warnings).toEqual([]);
});

test('the tests above sent more than 1,900 requests, or proportionally fewer on the embedded database', () =>
  expect(countCheckedResponses()).toBeGreaterThan(scaleRequestCount(1900)));
