import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assignEventSequence } from '../../../server/events/assign-sequence.ts';
import { databaseKind } from '../../support/services/database.ts';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import {
  askForTokens,
  authorizationRequest,
  authorize,
  authorizePath,
  basic,
  refusal,
  signIn,
  signUp,
  signUpAs,
  tokenResponse,
  tokensFor,
  type Person,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

let mandate: Mandate;
let administrator: string;
beforeAll(async () => {
  mandate = await startMandate();
  const boss = await signUpAs(mandate.db, mandate.origin, 'admin');
  administrator = (await tokensFor(mandate.origin, boss, ['applications.manage', 'audit.read'])).access_token;
});
afterAll(() => mandate.close());

const redirectUri = 'https://app.example/callback';
const scopes = ['users.read', 'orders.read', 'events.read', 'api_keys.manage'];

async function register(preapproved: readonly string[] = []): Promise<Body> {
  const body = {
    name: 'Some website',
    type: 'confidential',
    redirect_uris: [redirectUri],
    scopes,
    grant_types: ['authorization_code', 'refresh_token'],
    preapproved_scopes: preapproved,
  };
  return (await mandate.call('POST', '/api/v1/applications', { token: administrator, body })).body;
}

async function update(app: Body, body: object): Promise<void> {
  expect((await mandate.call('PATCH', `/api/v1/applications/${app.id}`, { token: administrator, body })).status).toBe(200);
}
const preapprove = (app: Body, ...preapproved: string[]): Promise<void> => update(app, { preapproved_scopes: preapproved });

type AtBrowser = Pick<Person, 'browser'>;
const requestOf = (app: Body, scope: string) => ({ client_id: app.client_id, redirect_uri: redirectUri, scope });

/** Whether the consent page is shown. */
async function isAsked(app: Body, { browser }: AtBrowser, scope: string): Promise<boolean> {
  const page = await browser.open(authorizePath(authorizationRequest(requestOf(app, scope)).query));
  return page.url.pathname.startsWith('/consent/');
}

const exchange = ({ client_id: id, client_secret: secret }: Body, form: Record<string, string>): Promise<Response> =>
  askForTokens(mandate.origin, form, basic(id, secret));

const codeForm = ({ code, verifier }: { code: string; verifier: string }) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
  redirect_uri: redirectUri,
});

/** Signs in, and consents where the page is shown. */
async function tokensOf(app: Body, person: AtBrowser, scope: string): Promise<TokenResponse> {
  const granted = await authorize(mandate.origin, person, requestOf(app, scope));
  return tokenResponse.parse(await (await exchange(app, codeForm(granted))).json());
}

/** Signs in to a preapproved application, which shows no consent page. */
async function unaskedTokensOf(app: Body, person: AtBrowser, scope: string): Promise<TokenResponse> {
  expect(await isAsked(app, person, scope)).toBe(false);
  return tokensOf(app, person, scope);
}

const renew = (app: Body, { refresh_token: token = '' }: TokenResponse): Promise<Response> =>
  exchange(app, { grant_type: 'refresh_token', refresh_token: token });
const renewed = async (app: Body, tokens: TokenResponse): Promise<TokenResponse> =>
  tokenResponse.parse(await (await renew(app, tokens)).json());
const status = async ({ access_token: token }: Pick<TokenResponse, 'access_token'>, path = 'users/me'): Promise<number> =>
  (await mandate.call('GET', `/api/v1/${path}`, { token })).status;

describe('an application whose pre-approval is withdrawn', () => {
  test('loses at once every access that rests on the pre-approval alone, and users are asked at their next sign-in', async () => {
    const app = await register(['openid', 'offline_access', 'users.read']);
    const anna = await signUp(mandate.origin);
    const scope = 'openid offline_access users.read';
    const tokens = await unaskedTokensOf(app, anna, scope);
    const pending = await authorize(mandate.origin, anna, requestOf(app, scope));
    expect(await status(tokens)).toBe(200);
    await preapprove(app);
    expect(await status(tokens)).toBe(401);
    expect(await refusal(await renew(app, tokens))).toBe('400 invalid_grant');
    expect(await refusal(await exchange(app, codeForm(pending)))).toBe('400 invalid_grant');
    expect(await isAsked(app, anna, scope)).toBe(true);
    expect((await authorize(mandate.origin, anna, { ...requestOf(app, scope), prompt: 'none' })).leaves.searchParams.get('error')).toBe(
      'consent_required',
    );
    const own = await tokensFor(mandate.origin, anna, ['connected_apps.read', 'events.read']);
    const connected = await mandate.call('GET', '/api/v1/connected-apps', { token: own.access_token });
    expect(connected.body.data.map(({ application }: Body) => application.client_id)).not.toContain(app.client_id);
    await assignEventSequence(mandate.db.em.fork());
    const events = (await mandate.call('GET', '/api/v1/events?type=grant.revoked', { token: own.access_token })).body.data;
    expect(events.map(({ data }: Body) => data.object.application.client_id)).toEqual([app.client_id]);
    const audit = (await mandate.call('GET', '/api/v1/audit-events?action=application.updated', { token: administrator })).body.data;
    expect(audit[0]).toMatchObject({ details: { withdrawn_scopes: ['openid', 'offline_access', 'users.read'] } });
  });

  test('keeps what users consented to, even on a device whose consent is no longer remembered', async () => {
    const app = await register();
    const anna = await signUp(mandate.origin);
    const scope = 'openid users.read';
    const phone = await tokensOf(app, anna, scope);
    const laptop = await tokensOf(app, { browser: await signIn(mandate.origin, anna) }, scope);
    await preapprove(app, 'openid', 'users.read');
    const own = (await tokensFor(mandate.origin, anna, ['connected_apps.read', 'connected_apps.write'])).access_token;
    const connected = (await mandate.call('GET', '/api/v1/connected-apps', { token: own })).body.data;
    const [last] = connected.filter(({ application }: Body) => application.client_id === app.client_id);
    expect((await mandate.call('DELETE', `/api/v1/connected-apps/${last.id}`, { token: own })).status).toBe(204);
    expect(await Promise.all([status(phone), status(laptop)])).toEqual([200, 401]);
    await preapprove(app);
    expect(await status(phone)).toBe(200);
    expect(await status(await renewed(app, phone))).toBe(200);
    expect(await isAsked(app, anna, scope)).toBe(true);
  });

  test('keeps the scopes of a grant that the user consented to, and loses the others', async () => {
    const app = await register();
    const anna = await signUp(mandate.origin);
    await tokensOf(app, anna, 'openid users.read');
    await preapprove(app, 'users.read', 'orders.read');
    const tokens = await unaskedTokensOf(app, anna, 'openid users.read orders.read');
    expect(await status(tokens, 'orders')).toBe(200);
    await preapprove(app);
    expect(await status(tokens)).toBe(401);
    const left = await renewed(app, tokens);
    expect(left.scope).toBe('openid users.read');
    expect([await status(left), await status(left, 'orders')]).toEqual([200, 403]);
    expect(
      (await exchange(app, { grant_type: 'refresh_token', refresh_token: left.refresh_token ?? '', scope: 'orders.read' })).status,
    ).toBe(200);
    const own = await tokensFor(mandate.origin, anna, ['connected_apps.read']);
    const connected = (await mandate.call('GET', '/api/v1/connected-apps', { token: own.access_token })).body.data;
    const granted = connected.filter(({ application }: Body) => application.client_id === app.client_id).map((one: Body) => one.scopes);
    expect(granted).toEqual([
      ['openid', 'users.read'],
      ['openid', 'users.read'],
    ]);
    expect(await isAsked(app, anna, 'openid users.read')).toBe(false);
    expect(await isAsked(app, anna, 'openid users.read orders.read')).toBe(true);
  });

  test('keeps the scopes that stay preapproved', async () => {
    const app = await register(['openid', 'users.read', 'orders.read']);
    const anna = await signUp(mandate.origin);
    const tokens = await unaskedTokensOf(app, anna, 'openid users.read orders.read');
    await preapprove(app, 'openid', 'users.read');
    expect(await status(tokens)).toBe(401);
    const left = await renewed(app, tokens);
    expect([await status(left), await status(left, 'orders')]).toEqual([200, 403]);
    await preapprove(app, 'openid');
    expect(await status(left)).toBe(401);
    expect((await renewed(app, left)).scope).toBe('openid');
  });

  test('loses the API keys that it created without consent, and keeps the others', async () => {
    const app = await register(['openid', ...scopes]);
    const [anna, ben] = [await signUp(mandate.origin), await signUp(mandate.origin)];
    const keyOf = async ({ access_token: token }: TokenResponse, ...allowed: string[]): Promise<Pick<TokenResponse, 'access_token'>> => {
      const body = { name: 'made by the application', scopes: allowed };
      return { access_token: (await mandate.call('POST', '/api/v1/api-keys', { token, body })).body.key };
    };
    const unasked = await unaskedTokensOf(app, anna, `openid ${scopes.join(' ')}`);
    await preapprove(app);
    const consented = await tokensOf(app, ben, 'openid users.read api_keys.manage');
    await preapprove(app, 'openid', ...scopes);
    expect(await status(unasked)).toBe(401);
    const again = await unaskedTokensOf(app, anna, `openid ${scopes.join(' ')}`);
    const mixed = await unaskedTokensOf(app, ben, `openid ${scopes.join(' ')}`);
    const keys = [
      await keyOf(consented, 'users.read'),
      await keyOf(mixed, 'users.read'),
      await keyOf(mixed, 'users.read', 'orders.read'),
      await keyOf(again, 'users.read'),
    ];
    const statuses = (): Promise<number[]> => Promise.all(keys.map((key) => status(key)));
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    await preapprove(app, 'openid', 'users.read', 'events.read', 'api_keys.manage');
    expect(await statuses()).toEqual([200, 200, 401, 200]);
    await preapprove(app);
    expect(await statuses()).toEqual([200, 200, 401, 401]);
  });

  test('ends nothing of another application, and no other change ends anything', async () => {
    const [app, other] = [await register(['openid', 'users.read']), await register(['openid', 'users.read'])];
    const anna = await signUp(mandate.origin);
    const [tokens, others] = [
      await unaskedTokensOf(app, anna, 'openid users.read'),
      await unaskedTokensOf(other, anna, 'openid users.read'),
    ];
    await update(app, { name: 'Another name' });
    await preapprove(app, 'openid', 'users.read', 'orders.read');
    expect(await status(tokens)).toBe(200);
    await preapprove(app);
    expect([await status(tokens), await status(others)]).toEqual([401, 200]);
  });
});

test.skipIf(databaseKind === 'pglite')('a sign-in at the moment of the withdrawal gets no access that remains', async () => {
  const anna = await signUp(mandate.origin);
  for (let round = 0; round < 10; round += 1) {
    const app = await register(['openid', 'users.read']);
    const { query, verifier } = authorizationRequest(requestOf(app, 'openid users.read'));
    const signIns = Array.from({ length: 4 }, () => anna.browser.open(authorizePath(query)));
    const [pages] = await Promise.all([Promise.all(signIns), preapprove(app)]);
    for (const code of pages.flatMap(({ leaves }) => leaves?.searchParams.get('code') ?? [])) {
      expect(await refusal(await exchange(app, codeForm({ code, verifier })))).toBe('400 invalid_grant');
    }
  }
});
