import { describe, expect, test } from 'vitest';
import { assignEventSequenceNumbers } from '../../../server/events/assign-event-sequence-numbers.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import {
  sendTokenRequest,
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  basicAuthorization,
  readOAuthError,
  signIn,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  type TestUser,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false });
const admin = shop.admin(['applications.manage', 'audit.read']);

const redirectUri = 'https://app.example/callback';
const scopes = ['users.read', 'orders.read', 'events.read', 'api_keys.manage'];

async function register(preapproved: readonly string[] = []): Promise<JsonBody> {
  const body = {
    name: 'Some website',
    type: 'confidential',
    redirect_uris: [redirectUri],
    scopes,
    grant_types: ['authorization_code', 'refresh_token'],
    preapproved_scopes: preapproved,
  };
  return (await shop.callApi('POST', '/api/v1/applications', { token: admin.token, body })).body;
}

async function update(app: JsonBody, body: object): Promise<void> {
  expect((await shop.callApi('PATCH', `/api/v1/applications/${app.id}`, { token: admin.token, body })).status).toBe(200);
}
const preapprove = (app: JsonBody, ...preapproved: string[]): Promise<void> => update(app, { preapproved_scopes: preapproved });

type WithBrowser = Pick<TestUser, 'browser'>;
const requestOf = (app: JsonBody, scope: string) => ({ client_id: app.client_id, redirect_uri: redirectUri, scope });

/** Returns whether the consent page is shown. */
async function isConsentRequired(app: JsonBody, { browser }: WithBrowser, scope: string): Promise<boolean> {
  const page = await browser.open(authorizationPath(buildAuthorizationRequest(requestOf(app, scope)).query));
  return page.url.pathname.startsWith('/consent/');
}

const exchange = ({ client_id: id, client_secret: secret }: JsonBody, form: Record<string, string>): Promise<Response> =>
  sendTokenRequest(shop.origin, form, basicAuthorization(id, secret));

const codeForm = ({ code, verifier }: { code: string; verifier: string }) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
  redirect_uri: redirectUri,
});

/** Signs in, gives consent if the consent page is shown, and returns the tokens. */
async function obtainApplicationTokens(app: JsonBody, person: WithBrowser, scope: string): Promise<TokenResponse> {
  const granted = await obtainAuthorizationCode(shop.origin, person, requestOf(app, scope));
  return tokenResponseSchema.parse(await (await exchange(app, codeForm(granted))).json());
}

/** Signs in to a preapproved application without a consent page, and returns the tokens. */
async function obtainPreapprovedTokens(app: JsonBody, person: WithBrowser, scope: string): Promise<TokenResponse> {
  expect(await isConsentRequired(app, person, scope)).toBe(false);
  return obtainApplicationTokens(app, person, scope);
}

const refresh = (app: JsonBody, { refresh_token: token = '' }: TokenResponse): Promise<Response> =>
  exchange(app, { grant_type: 'refresh_token', refresh_token: token });
const refreshTokens = async (app: JsonBody, tokens: TokenResponse): Promise<TokenResponse> =>
  tokenResponseSchema.parse(await (await refresh(app, tokens)).json());
const status = async ({ access_token: token }: Pick<TokenResponse, 'access_token'>, path = 'users/me'): Promise<number> =>
  (await shop.callApi('GET', `/api/v1/${path}`, { token })).status;

describe('an application whose pre-approval is withdrawn', () => {
  test('immediately loses all access authorized only by the pre-approval, and users must consent again', async () => {
    const app = await register(['openid', 'offline_access', 'users.read']);
    const anna = await signUp(shop.origin);
    const scope = 'openid offline_access users.read';
    const tokens = await obtainPreapprovedTokens(app, anna, scope);
    const pending = await obtainAuthorizationCode(shop.origin, anna, requestOf(app, scope));
    expect(await status(tokens)).toBe(200);
    await preapprove(app);
    expect(await status(tokens)).toBe(401);
    expect(await readOAuthError(await refresh(app, tokens))).toBe('400 invalid_grant');
    expect(await readOAuthError(await exchange(app, codeForm(pending)))).toBe('400 invalid_grant');
    expect(await isConsentRequired(app, anna, scope)).toBe(true);
    expect(
      (await obtainAuthorizationCode(shop.origin, anna, { ...requestOf(app, scope), prompt: 'none' })).leaves.searchParams.get('error'),
    ).toBe('consent_required');
    const userAccess = await obtainTokens(shop.origin, anna, ['connected_apps.read', 'events.read']);
    const connected = await shop.callApi('GET', '/api/v1/connected-apps', { token: userAccess.access_token });
    expect(connected.body.data.map(({ application }: JsonBody) => application.client_id)).not.toContain(app.client_id);
    await assignEventSequenceNumbers(shop.db.em.fork());
    const events = (await shop.callApi('GET', '/api/v1/events?type=grant.revoked', { token: userAccess.access_token })).body.data;
    expect(events.map(({ data }: JsonBody) => data.object.application.client_id)).toEqual([app.client_id]);
    const audit = (await shop.callApi('GET', '/api/v1/audit-events?action=application.updated', { token: admin.token })).body.data;
    expect(audit[0]).toMatchObject({ details: { withdrawn_scopes: ['openid', 'offline_access', 'users.read'] } });
  });

  test('keeps the access that users consented to, even if the consent is no longer remembered', async () => {
    const app = await register();
    const anna = await signUp(shop.origin);
    const scope = 'openid users.read';
    const phone = await obtainApplicationTokens(app, anna, scope);
    const laptop = await obtainApplicationTokens(app, { browser: await signIn(shop.origin, anna) }, scope);
    await preapprove(app, 'openid', 'users.read');
    const userAccess = (await obtainTokens(shop.origin, anna, ['connected_apps.read', 'connected_apps.write'])).access_token;
    const connected = (await shop.callApi('GET', '/api/v1/connected-apps', { token: userAccess })).body.data;
    const [last] = connected.filter(({ application }: JsonBody) => application.client_id === app.client_id);
    expect((await shop.callApi('DELETE', `/api/v1/connected-apps/${last.id}`, { token: userAccess })).status).toBe(204);
    expect(await Promise.all([status(phone), status(laptop)])).toEqual([200, 401]);
    await preapprove(app);
    expect(await status(phone)).toBe(200);
    expect(await status(await refreshTokens(app, phone))).toBe(200);
    expect(await isConsentRequired(app, anna, scope)).toBe(true);
  });

  test('keeps the scopes that the user consented to, and loses the others', async () => {
    const app = await register();
    const anna = await signUp(shop.origin);
    await obtainApplicationTokens(app, anna, 'openid users.read');
    await preapprove(app, 'users.read', 'orders.read');
    const tokens = await obtainPreapprovedTokens(app, anna, 'openid users.read orders.read');
    expect(await status(tokens, 'orders')).toBe(200);
    await preapprove(app);
    expect(await status(tokens)).toBe(401);
    const remainingTokens = await refreshTokens(app, tokens);
    expect(remainingTokens.scope).toBe('openid users.read');
    expect([await status(remainingTokens), await status(remainingTokens, 'orders')]).toEqual([200, 403]);
    expect(
      (await exchange(app, { grant_type: 'refresh_token', refresh_token: remainingTokens.refresh_token ?? '', scope: 'orders.read' }))
        .status,
    ).toBe(200);
    const userAccess = await obtainTokens(shop.origin, anna, ['connected_apps.read']);
    const connected = (await shop.callApi('GET', '/api/v1/connected-apps', { token: userAccess.access_token })).body.data;
    const granted = connected
      .filter(({ application }: JsonBody) => application.client_id === app.client_id)
      .map((one: JsonBody) => one.scopes);
    expect(granted).toEqual([
      ['openid', 'users.read'],
      ['openid', 'users.read'],
    ]);
    expect(await isConsentRequired(app, anna, 'openid users.read')).toBe(false);
    expect(await isConsentRequired(app, anna, 'openid users.read orders.read')).toBe(true);
  });

  test('keeps the scopes that remain pre-approved', async () => {
    const app = await register(['openid', 'users.read', 'orders.read']);
    const anna = await signUp(shop.origin);
    const tokens = await obtainPreapprovedTokens(app, anna, 'openid users.read orders.read');
    await preapprove(app, 'openid', 'users.read');
    expect(await status(tokens)).toBe(401);
    const remainingTokens = await refreshTokens(app, tokens);
    expect([await status(remainingTokens), await status(remainingTokens, 'orders')]).toEqual([200, 403]);
    await preapprove(app, 'openid');
    expect(await status(remainingTokens)).toBe(401);
    expect((await refreshTokens(app, remainingTokens)).scope).toBe('openid');
  });

  test('loses API keys created without consent, and keeps the others', async () => {
    const app = await register(['openid', ...scopes]);
    await update(app, { first_party: true }); // other applications can access only their own orders, and therefore cannot create API keys
    const [anna, ben] = [await signUp(shop.origin), await signUp(shop.origin)];
    const createKey = async (
      { access_token: token }: TokenResponse,
      ...allowed: string[]
    ): Promise<Pick<TokenResponse, 'access_token'>> => {
      const body = { name: 'made by the application', scopes: allowed };
      return { access_token: (await shop.callApi('POST', '/api/v1/api-keys', { token, body })).body.key };
    };
    const preapprovedTokens = await obtainPreapprovedTokens(app, anna, `openid ${scopes.join(' ')}`);
    await preapprove(app);
    const consented = await obtainApplicationTokens(app, ben, 'openid users.read api_keys.manage');
    await preapprove(app, 'openid', ...scopes);
    expect(await status(preapprovedTokens)).toBe(401);
    const again = await obtainPreapprovedTokens(app, anna, `openid ${scopes.join(' ')}`);
    const mixed = await obtainPreapprovedTokens(app, ben, `openid ${scopes.join(' ')}`);
    const keys = [
      await createKey(consented, 'users.read'),
      await createKey(mixed, 'users.read'),
      await createKey(mixed, 'users.read', 'orders.read'),
      await createKey(again, 'users.read'),
    ];
    const statuses = (): Promise<number[]> => Promise.all(keys.map((key) => status(key)));
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await preapprove(app, 'openid', 'users.read', 'events.read', 'api_keys.manage');
    expect(await statuses()).toEqual([200, 200, 401, 200]);
    await preapprove(app);
    expect(await statuses()).toEqual([200, 200, 401, 401]);
  });

  test('keeps its access after other changes, and other applications are not affected', async () => {
    const [app, other] = [await register(['openid', 'users.read']), await register(['openid', 'users.read'])];
    const anna = await signUp(shop.origin);
    const [tokens, otherTokens] = [
      await obtainPreapprovedTokens(app, anna, 'openid users.read'),
      await obtainPreapprovedTokens(other, anna, 'openid users.read'),
    ];
    await update(app, { name: 'Another name' });
    await preapprove(app, 'openid', 'users.read', 'orders.read');
    expect(await status(tokens)).toBe(200);
    await preapprove(app);
    expect([await status(tokens), await status(otherTokens)]).toEqual([401, 200]);
  });
});

test.skipIf(databaseKind === 'pglite')('a sign-in during the withdrawal gets no lasting access', async () => {
  const anna = await signUp(shop.origin);
  for (let round = 0; round < 10; round += 1) {
    const app = await register(['openid', 'users.read']);
    const { query, verifier } = buildAuthorizationRequest(requestOf(app, 'openid users.read'));
    const signIns = Array.from({ length: 4 }, () => anna.browser.open(authorizationPath(query)));
    const [pages] = await Promise.all([Promise.all(signIns), preapprove(app)]);
    for (const code of pages.flatMap(({ externalRedirect: leaves }) => leaves?.searchParams.get('code') ?? [])) {
      expect(await readOAuthError(await exchange(app, codeForm({ code, verifier })))).toBe('400 invalid_grant');
    }
  }
});
