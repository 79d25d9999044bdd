import { expect, test } from 'vitest';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  basicAuthorization,
  sendTokenRequest,
  redeemCode,
  sendRefreshRequest,
  readOAuthError,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  createWebApplication,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false });

const path = '/api/v1/connected-apps';
const list = async (token: string): Promise<JsonBody[]> => (await shop.callApi('GET', path, { token })).body.data;
const getCurrentUser = (token: string) => shop.callApi('GET', '/api/v1/users/me', { token });
const connect = (person: TestUser) => obtainTokens(shop.origin, person, ['connected_apps.read', 'connected_apps.write', 'users.read']);

test('GET /connected-apps: returns the application, its scopes and its last use', async () => {
  const anna = await signUp(shop.origin);
  const tokens = await connect(anna);
  const [app] = await list(tokens.access_token);
  expect(app).toMatchObject({
    application: { client_id: 'mandate-cli', name: 'Mandate command line', first_party: true },
    scopes: expect.arrayContaining(['users.read', 'connected_apps.read']),
  });
  expect(Date.parse(app.last_used_at)).toBeGreaterThan(Date.now() - 60_000);
});

test('names the device after the browser in which the user gave consent', async () => {
  const anna = await signUp(shop.origin);
  const open = anna.browser.request.bind(anna.browser);
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  anna.browser.request = (url, init) =>
    open(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'user-agent': agent } });
  const tokens = await connect(anna);
  expect((await list(tokens.access_token))[0]).toMatchObject({ device: 'Firefox on Linux' });
});

test('shows a grant after the code exchange, and until its revocation', async () => {
  const anna = await signUp(shop.origin);
  const tokens = await connect(anna);
  const before = (await list(tokens.access_token)).length;
  const granted = await obtainAuthorizationCode(shop.origin, anna);
  expect(await list(tokens.access_token)).toHaveLength(before);
  const other = tokenResponseSchema.parse(await (await redeemCode(shop.origin, granted)).json());
  expect(await list(tokens.access_token)).toHaveLength(before + 1);
  await fetch(`${shop.origin}/oauth/revocation`, {
    method: 'POST',
    body: new URLSearchParams({ token: other.refresh_token ?? '', client_id: 'mandate-cli' }),
  });
  expect(await list(tokens.access_token)).toHaveLength(before);
});

test('DELETE /connected-apps/{connected_app_id}: revokes access immediately, and the next sign-in requires consent', async () => {
  const anna = await signUp(shop.origin);
  const userTokens = await connect(anna);
  const client = await createWebApplication(shop.db, ['orders.read', 'users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  const redeemFor = async (granted: Awaited<ReturnType<typeof obtainAuthorizationCode>>) => {
    const form = {
      grant_type: 'authorization_code',
      code: granted.code,
      code_verifier: granted.verifier,
      redirect_uri: client.redirectUri,
    };
    return tokenResponseSchema.parse(
      await (await sendTokenRequest(shop.origin, form, basicAuthorization(client.clientId, client.secret))).json(),
    );
  };
  const tokens = await redeemFor(await obtainAuthorizationCode(shop.origin, anna, request));
  // the consent is remembered, so the consent page is not shown
  const again = await anna.browser.open(authorizationPath(buildAuthorizationRequest(request).query));
  expect(again.externalRedirect?.searchParams.get('code')).toBeTruthy();
  const app = (await list(userTokens.access_token)).find(({ application }) => application.client_id === client.clientId);
  expect((await getCurrentUser(tokens.access_token)).status).toBe(200);
  expect((await shop.callApi('DELETE', `${path}/${app.id}`, { token: userTokens.access_token })).status).toBe(204);
  expect((await getCurrentUser(tokens.access_token)).body.code).toBe('revoked_token');
  const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
  expect(await readOAuthError(await sendTokenRequest(shop.origin, form, basicAuthorization(client.clientId, client.secret)))).toBe(
    '400 invalid_grant',
  );
  const nextSignIn = await anna.browser.open(authorizationPath(buildAuthorizationRequest(request).query));
  expect(nextSignIn.url.pathname).toMatch(/^\/consent\//);
  expect((await getCurrentUser(userTokens.access_token)).status).toBe(200);
});

test('DELETE: deletes the grant, and the grants of other applications remain', async () => {
  const anna = await signUp(shop.origin);
  const [first, second] = [await connect(anna), await connect(anna)];
  const listGrants = () =>
    shop.db.em.fork().execute<{ id: string }[]>(`select id from oauth_records where model = 'Grant' and account_id = ?`, [String(anna.id)]);
  const before = await listGrants();
  const [newest] = await list(first.access_token);
  await shop.callApi('DELETE', `${path}/${newest.id}`, { token: first.access_token });
  expect(await listGrants()).toHaveLength(before.length - 1);
  expect((await sendRefreshRequest(shop.origin, second.refresh_token ?? '')).status).toBe(400);
});

test('the same application on another device keeps its access', async () => {
  const anna = await signUp(shop.origin);
  const [first, second] = [await connect(anna), await connect(anna)];
  const [newest] = await list(first.access_token);
  await shop.callApi('DELETE', `${path}/${newest.id}`, { token: first.access_token });
  expect((await getCurrentUser(second.access_token)).status).toBe(401);
  expect((await getCurrentUser(first.access_token)).status).toBe(200);
  expect((await sendRefreshRequest(shop.origin, first.refresh_token ?? '')).status).toBe(200);
});

test('DELETE: 404 for an application of another user, and 400, 401, 403', async () => {
  const [anna, ben] = [await signUp(shop.origin), await signUp(shop.origin)];
  const [annasTokens, bensTokens] = [await connect(anna), await connect(ben)];
  const [app] = await list(annasTokens.access_token);
  const remove = (id: number | string, token?: string) => shop.callApi('DELETE', `${path}/${id}`, token === undefined ? {} : { token });
  expect((await remove(app.id, bensTokens.access_token)).status).toBe(404);
  expect((await getCurrentUser(annasTokens.access_token)).status).toBe(200);
  expect((await remove('x', annasTokens.access_token)).status).toBe(400);
  expect((await remove(app.id)).status).toBe(401);
  const reader = await obtainTokens(shop.origin, anna, ['connected_apps.read']);
  expect((await remove(app.id, reader.access_token)).status).toBe(403);
});

test('DELETE revokes the API keys that the application created, unless api_keys=keep', async () => {
  const anna = await signUp(shop.origin);
  const userTokens = await obtainTokens(shop.origin, anna, [
    'connected_apps.read',
    'connected_apps.write',
    'api_keys.manage',
    'users.read',
  ]);
  const client = await createWebApplication(shop.db, ['api_keys.manage', 'users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid api_keys.manage users.read' };
  const createKey = async (token: string): Promise<string> => {
    const created = await shop.callApi('POST', '/api/v1/api-keys', { token, body: { name: 'Backup', scopes: ['users.read'] } });
    expect(created.status).toBe(201);
    return created.body.key;
  };
  const connectAndCreateKey = async (): Promise<string> => {
    const { code, verifier } = await obtainAuthorizationCode(shop.origin, anna, request);
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: client.redirectUri };
    const tokens = tokenResponseSchema.parse(
      await (await sendTokenRequest(shop.origin, form, basicAuthorization(client.clientId, client.secret))).json(),
    );
    return createKey(tokens.access_token);
  };
  const removeApplication = async (query: string): Promise<number> => {
    const app = (await list(userTokens.access_token)).find(({ application }) => application.client_id === client.clientId);
    return (await shop.callApi('DELETE', `${path}/${app.id}${query}`, { token: userTokens.access_token })).status;
  };
  const keptKey = await connectAndCreateKey();
  expect(await removeApplication('?api_keys=all')).toBe(400);
  expect((await getCurrentUser(keptKey)).status).toBe(200);
  expect(await removeApplication('?api_keys=keep')).toBe(204);
  expect((await getCurrentUser(keptKey)).status).toBe(200);
  const [secondKey, otherKey] = [await connectAndCreateKey(), await createKey(userTokens.access_token)];
  expect(await removeApplication('')).toBe(204);
  expect([(await getCurrentUser(keptKey)).body.code, (await getCurrentUser(secondKey)).body.code]).toEqual([
    'revoked_token',
    'revoked_token',
  ]);
  expect((await getCurrentUser(otherKey)).status).toBe(200);
  const rows = await shop.db.em
    .fork()
    .execute(`select details from audit_events where user_id = ? and action = 'api_key.revoked'`, [anna.id]);
  expect(rows).toEqual([{ details: { reason: 'application_removed' } }, { details: { reason: 'application_removed' } }]);
});
