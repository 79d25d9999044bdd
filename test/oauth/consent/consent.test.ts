import { describe, expect, test, vi } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { getRolesAllowedForScope, scopeNames, scopeDefinitions } from '@mandate/contract';
import { pollDeviceToken, startDeviceAuthorization, submitUserCode, expirePollIntervalSql } from '../../support/oauth/device-flow.ts';
import { createSquarePngDataUri } from '../../support/browser/square-png.ts';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { buildFormRequest, type HtmlPage } from '../../support/browser/browser.ts';
import {
  sendTokenRequest,
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  basicAuthorization,
  redeemCode,
  signIn,
  signUp,
  signUpWithRole,
  tokenResponseSchema,
  createWebApplication,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

const openAuthorization = ({ browser }: Pick<TestUser, 'browser'>, parameters: Record<string, string>): Promise<HtmlPage> =>
  browser.open(authorizationPath(buildAuthorizationRequest(parameters).query));
const isConsentPage = ({ url }: HtmlPage): boolean => url.pathname.startsWith('/consent/');

test('a native application requires consent at every sign-in, a web application once per user (30)', async () => {
  const anna = await signUp(server.origin);
  for (let time = 0; time < 2; time += 1) {
    expect(isConsentPage(await openAuthorization(anna, { scope: 'openid users.read' }))).toBe(true);
    await obtainAuthorizationCode(server.origin, anna, { scope: 'openid users.read' });
  }
  const client = await createWebApplication(server.db, ['users.read', 'orders.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  await obtainAuthorizationCode(server.origin, anna, request);
  const otherBrowser = { browser: await signIn(server.origin, anna) };
  const page = await openAuthorization(otherBrowser, request);
  expect(page.externalRedirect?.searchParams.get('code')).toBeTruthy();
  expect(isConsentPage(await openAuthorization(otherBrowser, { ...request, scope: 'openid users.read orders.read' }))).toBe(true);
  expect(isConsentPage(await openAuthorization(await signUp(server.origin), request))).toBe(true);
});

test.each(['https://app.example/callback', 'http://127.0.0.1/callback'])(
  'a confidential application with a loopback redirect URI requires consent once: %s',
  async (redirectUri) => {
    const { clientId } = await createWebApplication(server.db, ['users.read'], 'https://app.example/callback', 'http://127.0.0.1/callback');
    const anna = await signUp(server.origin);
    const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' };
    expect(isConsentPage(await openAuthorization(anna, request))).toBe(true);
    await obtainAuthorizationCode(server.origin, anna, request);
    expect((await openAuthorization(anna, request)).externalRedirect?.searchParams.get('code')).toBeTruthy();
  },
);

test('tokens of a remembered consent are valid and independent of the first tokens (30, 63)', async () => {
  const anna = await signUp(server.origin);
  const client = await createWebApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  const tokens = async () => {
    const { code, verifier } = await obtainAuthorizationCode(server.origin, anna, request);
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: client.redirectUri };
    const response = await sendTokenRequest(server.origin, form, basicAuthorization(client.clientId, client.secret));
    return tokenResponseSchema.parse(await response.json());
  };
  const [first, second] = [await tokens(), await tokens()];
  expect(second.scope).toBe('openid users.read');
  await fetch(`${server.origin}/oauth/revocation`, {
    method: 'POST',
    headers: basicAuthorization(client.clientId, client.secret),
    body: new URLSearchParams({ token: first.refresh_token ?? '' }),
  });
  expect(await fetchApiStatus(server, first.access_token)).toBe(401);
  expect(await fetchApiStatus(server, second.access_token)).toBe(200);
});

test('the consent page describes the scopes, the account and the duration in plain words', async () => {
  const anna = await signUp(server.origin, { name: 'Anna <b>Bold</b>' });
  const { text } = await openAuthorization(anna, { scope: 'openid users.read orders.write offline_access' });
  expect(text).toContain('See your name, e-mail address and other account details, such as language and status');
  expect(text).toContain('Place orders on your behalf, and at your expense');
  expect(text).toContain('Anna &lt;b&gt;Bold&lt;/b&gt;');
  expect(text).toContain(anna.email);
  expect(text).toContain('90 days');
  expect(text.replace(/<[^>]*>/g, '')).not.toMatch(/\b(client|scope|grant|token|OAuth)\b/i);
});

test('the consent page shows an embedded logo and loads no logo from another host', async () => {
  const anna = await signUp(server.origin);
  const client = await createWebApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  const logosOnPage = async (logo: string): Promise<string[]> => {
    await server.db.em.fork().execute('update applications set logo_uri = ? where client_id = ?', [logo, client.clientId]);
    const { text } = await openAuthorization(anna, request);
    return [...text.matchAll(/<img[^>]* src="([^"]*)"/g)].map(([, address = '']) => address);
  };
  expect(await logosOnPage(createSquarePngDataUri(64))).toEqual([createSquarePngDataUri(64)]);
  expect(await logosOnPage('https://tracker.example/logo.png')).toEqual([]);
});

test('"Cancel" redirects to the application with access_denied, state and iss (28)', async () => {
  const { leaves } = await obtainAuthorizationCode(server.origin, await signUp(server.origin), { state: 'abc' }, { decision: 'cancel' });
  expect(Object.fromEntries(leaves.searchParams)).toMatchObject({ error: 'access_denied', state: 'abc', iss: server.origin });
});

test('a scope that the user unticks is not granted (29)', async () => {
  const anna = await signUp(server.origin);
  const decision = { decision: 'allow', scope: ['orders.read'] };
  const granted = await obtainAuthorizationCode(server.origin, anna, { scope: 'openid users.read orders.read' }, decision);
  const tokens = tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json());
  expect(tokens.scope).toBe('openid orders.read');
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(403);
});

test('a scope that was not requested cannot be granted', async () => {
  const anna = await signUp(server.origin);
  const decision = { decision: 'allow', scope: ['orders.read', 'orders.write'] };
  const granted = await obtainAuthorizationCode(server.origin, anna, { scope: 'openid orders.read' }, decision);
  expect(tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json()).scope).toBe('openid orders.read');
});

describe('a scope that requires a role (31)', () => {
  const scope = 'openid users.read orders.manage';

  test('is neither shown to a customer nor granted', async () => {
    const anna = await signUp(server.origin);
    const page = await openAuthorization(anna, { scope });
    expect(page.text).not.toContain('value="orders.manage"');
    const granted = await obtainAuthorizationCode(
      server.origin,
      anna,
      { scope },
      { decision: 'allow', scope: ['users.read', 'orders.manage'] },
    );
    expect(tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json()).scope).toBe('openid users.read');
  });

  test('is highlighted on the consent page of an administrator', async () => {
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    const { text } = await openAuthorization(admin, { scope });
    expect(text).toMatch(/class="careful"[^]*See, place, change and cancel orders for all customers/);
    const tokens = tokenResponseSchema.parse(
      await (await redeemCode(server.origin, await obtainAuthorizationCode(server.origin, admin, { scope }))).json(),
    );
    expect(tokens.scope).toBe(scope);
  });

  test('is not shown after the user loses the role, even with a remembered consent', async () => {
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    const client = await createWebApplication(server.db, ['users.read', 'orders.manage']);
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope };
    await obtainAuthorizationCode(server.origin, admin, request);
    expect(isConsentPage(await openAuthorization(admin, request))).toBe(false);
    await server.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [admin.id]);
    expect((await openAuthorization(admin, request)).text).not.toContain('value="orders.manage"');
  });

  const roles = ['customer', 'staff', 'admin'] as const;
  const cases = scopeNames.flatMap((name) =>
    roles.filter((role) => !getRolesAllowedForScope(name).includes(role)).map((role) => [name, role] as const),
  );
  const usersByRole = new Map<string, Promise<TestUser>>();
  const userWithRole = (role: (typeof roles)[number]): Promise<TestUser> => {
    const person = usersByRole.get(role) ?? signUpWithRole(server.db, server.origin, role);
    usersByRole.set(role, person);
    return person;
  };

  test.each(cases)('the page warns that %s is not available to the role %s, and offers another account', async (name, role) => {
    const person = await userWithRole(role);
    const { text } = await openAuthorization(person, { scope: `openid users.read ${name}` });
    const [, warning = ''] = /<div class="warning" role="alert">([^]*?)<\/div>/.exec(text) ?? [];
    expect(warning).not.toContain(name);
    expect(warning).toContain(scopeDefinitions[name].consent);
    expect(warning).toMatch(/<button[^>]* form="switch">Use another account</);
    expect(text).not.toContain(`value="${name}"`);
    expect(text).toContain('value="users.read"');
  });

  test('as the only requested scope can only be declined, or granted by another user', async () => {
    const anna = await signUp(server.origin);
    const page = await openAuthorization(anna, { scope: 'orders.manage' });
    expect(page.text).toContain('See, place, change and cancel orders for all customers <small>Only staff');
    expect(page.text).not.toContain('value="allow"');
    const allowed = await anna.browser.submit(page, { decision: 'allow' });
    expect(allowed.externalRedirect?.searchParams.get('error')).toBe('access_denied');
    const admin = await signUpWithRole(server.db, server.origin, 'admin');
    const signInPage = await anna.browser.submit(await openAuthorization(anna, { scope: 'orders.manage' }), { decision: 'switch' });
    const consent = await anna.browser.submit(signInPage, { email: admin.email, password: admin.password });
    expect(consent.text).toContain('value="orders.manage"');
    expect((await anna.browser.submit(consent, { decision: 'allow' })).externalRedirect?.searchParams.get('code')).toBeTruthy();
  });

  test('is granted to a device by another user', async () => {
    const [anna, admin] = [await signUp(server.origin), await signUpWithRole(server.db, server.origin, 'admin')];
    const device = await startDeviceAuthorization(server.origin, scope);
    const page = await anna.browser.submit(await submitUserCode(anna, device.user_code), {});
    expect(page.text).toContain('See, place, change and cancel orders for all customers <small>Only staff');
    const signInPage = await anna.browser.submit(page, { decision: 'switch' });
    expect(signInPage.url.pathname).toMatch(/^\/sign-in\//);
    const consent = await anna.browser.submit(signInPage, { email: admin.email, password: admin.password });
    expect(consent.text).toContain(admin.email);
    expect((await anna.browser.submit(consent, { decision: 'allow' })).response.status).toBe(200);
    await server.db.em.fork().execute(expirePollIntervalSql);
    const tokens = tokenResponseSchema.parse(await (await pollDeviceToken(server.origin, device.device_code)).json());
    expect(tokens.scope).toBe(scope);
    const me = await fetch(`${server.origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ id: admin.id });
  });
});

describe('the consent form', () => {
  test('is rejected from another browser, and without its hidden field (24)', async () => {
    const [anna, eve] = [await signUp(server.origin), await signUp(server.origin)];
    const page = await openAuthorization(anna, {});
    const stolen = await eve.browser.open(page.url.href, buildFormRequest(page, { decision: 'allow' }));
    expect([stolen.response.status, stolen.externalRedirect]).toEqual([400, undefined]);
    const forged = await anna.browser.open(page.url.href, { method: 'POST', body: new URLSearchParams({ decision: 'allow' }) });
    expect([isConsentPage(forged), forged.externalRedirect]).toEqual([true, undefined]);
  });

  test('is rejected before the user has signed in (25)', async () => {
    const anna = await signUp(server.origin);
    const signInPage = await openAuthorization(anna, { prompt: 'login' });
    const consentUrl = signInPage.url.href.replace('/sign-in/', '/consent/');
    const skipped = await anna.browser.open(consentUrl, buildFormRequest(signInPage, { decision: 'allow' }));
    expect([skipped.response.status, skipped.externalRedirect]).toEqual([400, undefined]);
  });

  test('redirects with 303, so that browsers do not repeat the POST (27)', async () => {
    const anna = await signUp(server.origin);
    const page = await openAuthorization(anna, {});
    expect((await anna.browser.request(page.url.href, buildFormRequest(page, { decision: 'allow' }))).status).toBe(303);
  });
});

test('"Use another account" signs the user out and shows the sign-in page', async () => {
  const anna = await signUp(server.origin);
  const signInPage = await anna.browser.submit(await openAuthorization(anna, {}), { decision: 'switch' });
  expect(signInPage.url.pathname).toMatch(/^\/sign-in\//);
  const ben = await signUp(server.origin);
  const consent = await anna.browser.submit(signInPage, { email: ben.email, password: ben.password });
  expect(consent.text).toContain(ben.email);
  const { externalRedirect: leaves } = await anna.browser.submit(consent, { decision: 'allow' });
  expect(leaves?.searchParams.get('code')).toBeTruthy();
});

test('a suspended user gets the sign-in page instead of an error or a code (32)', async () => {
  const anna = await signUp(server.origin);
  const client = await createWebApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  await obtainAuthorizationCode(server.origin, anna, request);
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  expect((await openAuthorization(anna, request)).url.pathname).toMatch(/^\/sign-in\//);
  expect((await openAuthorization(anna, { ...request, prompt: 'none' })).externalRedirect?.searchParams.get('error')).toBe(
    'login_required',
  );
  expect(server.warnings).toEqual([]);
});

test('a user who is suspended while the consent page is open gets no code', async () => {
  const anna = await signUp(server.origin);
  const page = await openAuthorization(anna, {});
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  const { response, externalRedirect: leaves } = await anna.browser.submit(page, { decision: 'allow' });
  expect([response.status, leaves]).toEqual([400, undefined]);
});

test.skipIf(databaseKind === 'pglite')(
  'an application that is deleted while the user allows it gets no code and causes no server error',
  async () => {
    const anna = await signUp(server.origin);
    const client = await createWebApplication(server.db, ['users.read']);
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
    const page = await openAuthorization(anna, request);
    const removal = server.db.em.fork();
    await removal.begin();
    await removal.execute('delete from applications where client_id = ?', [client.clientId]);
    const submitted = anna.browser.submit(page, { decision: 'allow' });
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await vi.waitFor(async () => expect(await server.db.em.fork().execute<object[]>(waiting)).toHaveLength(1), { timeout: 10_000 });
    await removal.commit();
    const { response } = await submitted;
    expect([response.status < 500, server.warnings]).toEqual([true, []]);
  },
);

test('the log of a failed page does not contain the secret part of the page URL', async () => {
  const anna = await signUp(server.origin);
  const page = await openAuthorization(anna, {});
  await server.db.em.fork().execute('alter table consents rename to consents_kept');
  const { response } = await anna.browser.submit(page, { decision: 'allow' });
  await server.db.em.fork().execute('alter table consents_kept rename to consents');
  expect(response.status).toBe(500);
  // the path is logged in JSON, or in the text format of the development log
  await expect.poll(() => server.warnings.join('')).toMatch(/path(":|=\\)"\/consent\/…/);
  expect(server.warnings.join('')).not.toContain(page.url.pathname.split('/').at(-1));
});
