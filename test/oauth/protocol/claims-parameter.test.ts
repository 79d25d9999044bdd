import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { addAuthenticatorApp, generateTotpCode, requestsSecondFactor } from '../../support/oauth/credentials.ts';
import { approveDevice, expirePollIntervalSql, pollDeviceToken, startDeviceAuthorization } from '../../support/oauth/device-flow.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  createWebApplication,
  readOAuthError,
  sendTokenRequest,
  signIn,
  signInToApplication,
  signUp,
  tokenResponseSchema,
  type TestUser,
  type WebApplication,
} from '../../support/oauth/oauth-flow.ts';
import { submitFormByAction } from '../../support/oauth/sign-in-attempts.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const twoFactors = 'urn:mandate:two-factors';

let anna: TestUser;
let application: WebApplication;
beforeAll(async () => {
  anna = await signUp(server.origin);
  application = await createWebApplication(server.db, ['orders.read']);
});

const claimsParameter = (claims: object): { claims: string } => ({ claims: JSON.stringify(claims) });
const requestOf = ({ clientId, redirectUri }: WebApplication, parameters: Record<string, string>) =>
  buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid', ...parameters }).query;
const readUserinfo = async (token: string): Promise<unknown> =>
  (await fetch(`${server.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } })).json();

describe('claims that are requested by name', () => {
  const emailAndName = claimsParameter({ userinfo: { email: null }, id_token: { name: { essential: true } } });

  test.each([
    ['an application that only signs users in', 'openid'],
    ['an application that also uses the API', 'openid orders.read'],
  ])('are returned where they were requested, even after a refresh, for %s', async (_, scope) => {
    const { tokens, claims } = await signInToApplication(server.origin, anna, application, { scope, ...emailAndName });
    expect(claims).toMatchObject({ name: anna.name });
    expect(claims).not.toHaveProperty('email');
    const expectedUserinfo = { sub: String(anna.id), email: anna.email };
    expect(await readUserinfo(tokens.access_token)).toEqual(expectedUserinfo);
    expect(tokens.scope).toBe(scope);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    const response = await sendTokenRequest(server.origin, form, basicAuthorization(application.clientId, application.secret));
    const refreshed = tokenResponseSchema.parse(await response.json());
    expect(decodeJwt(refreshed.id_token ?? '')).toMatchObject({ name: anna.name });
    expect(await readUserinfo(refreshed.access_token)).toEqual(expectedUserinfo);
  });

  test('require consent like their scopes, once', async () => {
    const other = await createWebApplication(server.db, []);
    const open = async (parameters: Record<string, string>) => anna.browser.open(authorizationPath(requestOf(other, parameters)));
    const consent = await open(claimsParameter({ userinfo: { email: null } }));
    expect(consent.url.pathname).toMatch(/^\/consent\//);
    expect(consent.text).toContain('e-mail address');
    expect((await anna.browser.submit(consent, { decision: 'allow' })).externalRedirect?.searchParams.get('code')).not.toBeNull();
    expect((await open(claimsParameter({ id_token: { email_verified: null } }))).externalRedirect?.searchParams.has('code')).toBe(true);
    expect((await open({ scope: 'openid email' })).externalRedirect?.searchParams.has('code')).toBe(true);
    expect((await open(claimsParameter({ userinfo: { name: null } }))).url.pathname).toMatch(/^\/consent\//);
  });

  test('are ignored if the server does not know them', async () => {
    const unknown = claimsParameter({ id_token: { phone_number: { essential: true }, constructor: null }, other: 1 });
    const { claims } = await signInToApplication(server.origin, anna, application, unknown);
    expect(Object.keys(claims).toSorted()).toEqual(['acr', 'amr', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'sub']);
  });

  test('are returned in the device flow', async () => {
    const device = await startDeviceAuthorization(server.origin, 'openid users.read', emailAndName);
    await approveDevice(anna, device.user_code);
    await server.db.em.fork().execute(expirePollIntervalSql);
    const tokens = tokenResponseSchema.parse(await (await pollDeviceToken(server.origin, device.device_code)).json());
    expect(decodeJwt(tokens.id_token ?? '')).toMatchObject({ name: anna.name });
    expect(await readUserinfo(tokens.access_token)).toEqual({ sub: String(anna.id), email: anna.email });
  });
});

describe('a malformed claims parameter', () => {
  test.each([
    '{',
    '[]',
    '"email"',
    'null',
    '{}',
    '{"userinfo":[]}',
    '{"userinfo":null,"id_token":{}}',
    '{"id_token":{"email":true}}',
    '{"id_token":{"acr":{"essential":"yes"}}}',
    '{"id_token":{"acr":{"values":"urn:mandate:two-factors"}}}',
  ])('is rejected: %s', async (claims) => {
    const { externalRedirect } = await anna.browser.open(authorizationPath(requestOf(application, { claims, state: 'abc' })));
    expect([externalRedirect?.searchParams.get('error'), externalRedirect?.searchParams.get('state')]).toEqual(['invalid_request', 'abc']);
    const pushed = await fetch(`${server.origin}/oauth/par`, {
      method: 'POST',
      body: new URLSearchParams(requestOf(application, { claims })),
      headers: basicAuthorization(application.clientId, application.secret),
    });
    expect(await readOAuthError(pushed)).toBe('400 invalid_request');
  });
});

describe('an essential acr', () => {
  const essential = (acr: object): { claims: string } => claimsParameter({ id_token: { acr: { essential: true, ...acr } } });
  const openAs = (user: Pick<TestUser, 'browser'>, parameters: Record<string, string>) =>
    user.browser.open(authorizationPath(requestOf(application, { state: 'abc', ...parameters })));

  test.each([
    ['one value', essential({ value: twoFactors })],
    ['one of several values', essential({ values: ['urn:other', twoFactors] })],
  ])('of %s is reached with a second sign-in', async (_, request) => {
    const user = await signUp(server.origin);
    const browser = await signIn(server.origin, user);
    const { secret } = await addAuthenticatorApp(user.browser);
    const page = await openAs({ browser }, request);
    expect(page.url.pathname).toMatch(/^\/sign-in\//);
    const codePage = await browser.submit(page, { email: user.email, password: user.password });
    expect(requestsSecondFactor(codePage)).toBe(true);
    const consent = await submitFormByAction(browser, codePage, 'second-factor', { code: generateTotpCode(secret) });
    expect(consent.url.pathname).toMatch(/^\/consent\//);
    const { claims } = await signInToApplication(server.origin, { browser }, application, request);
    expect(claims['acr']).toBe(twoFactors);
  });

  test('that the user cannot satisfy results in an error after one sign-in, not in an endless loop', async () => {
    const user = await signUp(server.origin);
    const page = await openAs(user, essential({ value: twoFactors }));
    expect(page.url.pathname).toMatch(/^\/sign-in\//);
    const { externalRedirect } = await user.browser.submit(page, { email: user.email, password: user.password });
    expect([externalRedirect?.searchParams.get('error'), externalRedirect?.searchParams.get('state')]).toEqual([
      'unmet_authentication_requirements',
      'abc',
    ]);
  });

  test('that the server does not know results in an error immediately', async () => {
    const { externalRedirect } = await openAs(anna, essential({ values: ['urn:other'] }));
    expect(externalRedirect?.searchParams.get('error')).toBe('unmet_authentication_requirements');
  });

  test('with prompt=none results in login_required', async () => {
    const { externalRedirect } = await openAs(await signUp(server.origin), { prompt: 'none', ...essential({ value: twoFactors }) });
    expect(externalRedirect?.searchParams.get('error')).toBe('login_required');
  });

  test.each([
    ['without values', essential({})],
    ['that the session has', essential({ value: 'urn:mandate:one-factor' })],
  ])('%s needs no sign-in', async (_, request) => {
    const { claims } = await signInToApplication(server.origin, anna, application, request);
    expect(claims['acr']).toBe('urn:mandate:one-factor');
  });
});

test('a voluntary acr requires a code from a user who has an authenticator app, and nothing from other users', async () => {
  const request = claimsParameter({ id_token: { acr: { values: [twoFactors] } } });
  const user = await signUp(server.origin);
  const browser = await signIn(server.origin, user);
  expect((await signInToApplication(server.origin, { browser }, application, request)).claims['acr']).toBe('urn:mandate:one-factor');
  await addAuthenticatorApp(user.browser);
  expect((await browser.open(authorizationPath(requestOf(application, request)))).url.pathname).toMatch(/^\/sign-in\//);
});

test('an essential auth_time is in the ID token', async () => {
  const request = claimsParameter({ id_token: { auth_time: { essential: true } } });
  expect((await signInToApplication(server.origin, anna, application, request)).claims['auth_time']).toEqual(expect.any(Number));
});

test("a request for another user's sub leads to the sign-in page", async () => {
  const request = (sub: string) => claimsParameter({ id_token: { sub: { value: sub } } });
  expect((await anna.browser.open(authorizationPath(requestOf(application, request('987654'))))).url.pathname).toMatch(/^\/sign-in\//);
  const { claims } = await signInToApplication(server.origin, anna, application, request(String(anna.id)));
  expect(claims.sub).toBe(String(anna.id));
});

test('the server metadata announces the claims parameter', async () => {
  const metadata = z
    .object({ claims_parameter_supported: z.boolean(), claims_supported: z.array(z.string()) })
    .parse(await (await fetch(`${server.origin}/.well-known/openid-configuration`)).json());
  expect(metadata.claims_parameter_supported).toBe(true);
  expect(metadata.claims_supported).toEqual(
    expect.arrayContaining(['sub', 'acr', 'amr', 'auth_time', 'name', 'updated_at', 'email', 'email_verified']),
  );
});
