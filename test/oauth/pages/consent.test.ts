import { describe, expect, test, vi } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { rolesForScope, scopeNames, scopeDefinitions } from '@mandate/contract';
import { askFromDevice, beginOnDevice, enterCode, wait } from '../../support/oauth/device-flow.ts';
import { encodePng } from '../../support/browser/png.ts';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import { formRequest, type Page } from '../../support/browser/browser.ts';
import {
  askForTokens,
  authorizationRequest,
  authorize,
  authorizePath,
  basic,
  redeem,
  signIn,
  signUp,
  signUpAs,
  tokenResponse,
  webApplication,
  type Person,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

const openAuthorization = ({ browser }: Pick<Person, 'browser'>, parameters: Record<string, string>): Promise<Page> =>
  browser.open(authorizePath(authorizationRequest(parameters).query));
const isConsentPage = ({ url }: Page): boolean => url.pathname.startsWith('/consent/');

test('a native application requires consent at every sign-in, a web application once per user (30)', async () => {
  const anna = await signUp(server.origin);
  for (let time = 0; time < 2; time += 1) {
    expect(isConsentPage(await openAuthorization(anna, { scope: 'openid users.read' }))).toBe(true);
    await authorize(server.origin, anna, { scope: 'openid users.read' });
  }
  const client = await webApplication(server.db, ['users.read', 'orders.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  await authorize(server.origin, anna, request);
  const otherBrowser = { browser: await signIn(server.origin, anna) };
  const page = await openAuthorization(otherBrowser, request);
  expect(page.leaves?.searchParams.get('code')).toBeTruthy();
  expect(isConsentPage(await openAuthorization(otherBrowser, { ...request, scope: 'openid users.read orders.read' }))).toBe(true);
  expect(isConsentPage(await openAuthorization(await signUp(server.origin), request))).toBe(true);
});

test.each(['https://app.example/callback', 'http://127.0.0.1/callback'])(
  'a confidential application with a loopback redirect URI requires consent once: %s',
  async (redirectUri) => {
    const { clientId } = await webApplication(server.db, ['users.read'], 'https://app.example/callback', 'http://127.0.0.1/callback');
    const anna = await signUp(server.origin);
    const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' };
    expect(isConsentPage(await openAuthorization(anna, request))).toBe(true);
    await authorize(server.origin, anna, request);
    expect((await openAuthorization(anna, request)).leaves?.searchParams.get('code')).toBeTruthy();
  },
);

test('tokens of a remembered consent are valid and independent of the first tokens (30, 63)', async () => {
  const anna = await signUp(server.origin);
  const client = await webApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  const tokens = async () => {
    const { code, verifier } = await authorize(server.origin, anna, request);
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: client.redirectUri };
    return tokenResponse.parse(await (await askForTokens(server.origin, form, basic(client.clientId, client.secret))).json());
  };
  const [first, second] = [await tokens(), await tokens()];
  expect(second.scope).toBe('openid users.read');
  await fetch(`${server.origin}/oauth/revocation`, {
    method: 'POST',
    headers: basic(client.clientId, client.secret),
    body: new URLSearchParams({ token: first.refresh_token ?? '' }),
  });
  expect(await apiStatus(server, first.access_token)).toBe(401);
  expect(await apiStatus(server, second.access_token)).toBe(200);
});

test('the consent page describes the scopes, the account and the duration in plain words', async () => {
  const anna = await signUp(server.origin, { name: 'Anna <b>Bold</b>' });
  const { text } = await openAuthorization(anna, { scope: 'openid users.read orders.write offline_access' });
  expect(text).toContain('See your name and e-mail address');
  expect(text).toContain('Place orders in your name: you pay for them');
  expect(text).toContain('Anna &lt;b&gt;Bold&lt;/b&gt;');
  expect(text).toContain(anna.email);
  expect(text).toContain('90 days');
  expect(text.replace(/<[^>]*>/g, '')).not.toMatch(/\b(client|scope|grant|token|OAuth)\b/i);
});

test('the consent page shows an embedded logo and loads no logo from another host', async () => {
  const anna = await signUp(server.origin);
  const client = await webApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  const logosOnPage = async (logo: string): Promise<string[]> => {
    await server.db.em.fork().execute('update applications set logo_uri = ? where client_id = ?', [logo, client.clientId]);
    const { text } = await openAuthorization(anna, request);
    return [...text.matchAll(/<img[^>]* src="([^"]*)"/g)].map(([, address = '']) => address);
  };
  expect(await logosOnPage(encodePng(64))).toEqual([encodePng(64)]);
  expect(await logosOnPage('https://tracker.example/logo.png')).toEqual([]);
});

test('"Cancel" redirects to the application with access_denied, state and iss (28)', async () => {
  const { leaves } = await authorize(server.origin, await signUp(server.origin), { state: 'abc' }, { decision: 'cancel' });
  expect(Object.fromEntries(leaves.searchParams)).toMatchObject({ error: 'access_denied', state: 'abc', iss: server.origin });
});

test('a scope that the user unticks is not granted (29)', async () => {
  const anna = await signUp(server.origin);
  const granted = await authorize(
    server.origin,
    anna,
    { scope: 'openid users.read orders.read' },
    { decision: 'allow', scope: ['orders.read'] },
  );
  const tokens = tokenResponse.parse(await (await redeem(server.origin, granted)).json());
  expect(tokens.scope).toBe('openid orders.read');
  expect(await apiStatus(server, tokens.access_token)).toBe(403);
});

test('a scope that was not requested cannot be granted', async () => {
  const anna = await signUp(server.origin);
  const granted = await authorize(
    server.origin,
    anna,
    { scope: 'openid orders.read' },
    { decision: 'allow', scope: ['orders.read', 'orders.write'] },
  );
  expect(tokenResponse.parse(await (await redeem(server.origin, granted)).json()).scope).toBe('openid orders.read');
});

describe('a scope that requires a role (31)', () => {
  const scope = 'openid users.read orders.manage';

  test('is neither shown to a customer nor granted', async () => {
    const anna = await signUp(server.origin);
    const page = await openAuthorization(anna, { scope });
    expect(page.text).not.toContain('value="orders.manage"');
    const granted = await authorize(server.origin, anna, { scope }, { decision: 'allow', scope: ['users.read', 'orders.manage'] });
    expect(tokenResponse.parse(await (await redeem(server.origin, granted)).json()).scope).toBe('openid users.read');
  });

  test('is highlighted on the consent page of an administrator', async () => {
    const admin = await signUpAs(server.db, server.origin, 'admin');
    const { text } = await openAuthorization(admin, { scope });
    expect(text).toMatch(/class="careful"[^]*See, place, change and cancel the orders of every customer/);
    const tokens = tokenResponse.parse(await (await redeem(server.origin, await authorize(server.origin, admin, { scope }))).json());
    expect(tokens.scope).toBe(scope);
  });

  test('is not shown after the user loses the role, even with a remembered consent', async () => {
    const admin = await signUpAs(server.db, server.origin, 'admin');
    const client = await webApplication(server.db, ['users.read', 'orders.manage']);
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope };
    await authorize(server.origin, admin, request);
    expect(isConsentPage(await openAuthorization(admin, request))).toBe(false);
    await server.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [admin.id]);
    expect((await openAuthorization(admin, request)).text).not.toContain('value="orders.manage"');
  });

  const roles = ['customer', 'staff', 'admin'] as const;
  const cases = scopeNames.flatMap((name) =>
    roles.filter((role) => !rolesForScope(name).includes(role)).map((role) => [name, role] as const),
  );
  const usersByRole = new Map<string, Promise<Person>>();
  const userWithRole = (role: (typeof roles)[number]): Promise<Person> => {
    const person = usersByRole.get(role) ?? signUpAs(server.db, server.origin, role);
    usersByRole.set(role, person);
    return person;
  };

  test.each(cases)('the page warns that %s is not available to the role %s, and offers another account', async (name, role) => {
    const person = await userWithRole(role);
    const { text } = await openAuthorization(person, { scope: `openid users.read ${name}` });
    const [, warning = ''] = /<div class="warning" role="alert">([^]*?)<\/div>/.exec(text) ?? [];
    expect(warning).toContain(`<code>${name}</code>`);
    expect(warning).toContain(scopeDefinitions[name].consent);
    expect(warning).toMatch(/<button[^>]* form="switch">Use another account</);
    expect(text).not.toContain(`value="${name}"`);
    expect(text).toContain('value="users.read"');
  });

  test('as the only requested scope can only be cancelled, or allowed by another user', async () => {
    const anna = await signUp(server.origin);
    const page = await openAuthorization(anna, { scope: 'orders.manage' });
    expect(page.text).toContain('<code>orders.manage</code>');
    expect(page.text).not.toContain('value="allow"');
    const allowed = await anna.browser.submit(page, { decision: 'allow' });
    expect(allowed.leaves?.searchParams.get('error')).toBe('access_denied');
    const admin = await signUpAs(server.db, server.origin, 'admin');
    const signInPage = await anna.browser.submit(await openAuthorization(anna, { scope: 'orders.manage' }), { decision: 'switch' });
    const consent = await anna.browser.submit(signInPage, { email: admin.email, password: admin.password });
    expect(consent.text).toContain('value="orders.manage"');
    expect((await anna.browser.submit(consent, { decision: 'allow' })).leaves?.searchParams.get('code')).toBeTruthy();
  });

  test('is granted to a device by another user', async () => {
    const [anna, admin] = [await signUp(server.origin), await signUpAs(server.db, server.origin, 'admin')];
    const device = await beginOnDevice(server.origin, scope);
    const page = await anna.browser.submit(await enterCode(anna, device.user_code), {});
    expect(page.text).toContain('<code>orders.manage</code>');
    const signInPage = await anna.browser.submit(page, { decision: 'switch' });
    expect(signInPage.url.pathname).toMatch(/^\/sign-in\//);
    const consent = await anna.browser.submit(signInPage, { email: admin.email, password: admin.password });
    expect(consent.text).toContain(admin.email);
    expect((await anna.browser.submit(consent, { decision: 'allow' })).response.status).toBe(200);
    await server.db.em.fork().execute(wait);
    const tokens = tokenResponse.parse(await (await askFromDevice(server.origin, device.device_code)).json());
    expect(tokens.scope).toBe(scope);
    const me = await fetch(`${server.origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ id: admin.id });
  });
});

describe('the consent form', () => {
  test('is rejected from another browser (24) and without its hidden field', async () => {
    const [anna, eve] = [await signUp(server.origin), await signUp(server.origin)];
    const page = await openAuthorization(anna, {});
    const stolen = await eve.browser.open(page.url.href, formRequest(page, { decision: 'allow' }));
    expect([stolen.response.status, stolen.leaves]).toEqual([400, undefined]);
    const forged = await anna.browser.open(page.url.href, { method: 'POST', body: new URLSearchParams({ decision: 'allow' }) });
    expect([isConsentPage(forged), forged.leaves]).toEqual([true, undefined]);
  });

  test('is rejected before the user has signed in (25)', async () => {
    const anna = await signUp(server.origin);
    const signInPage = await openAuthorization(anna, { prompt: 'login' });
    const consentUrl = signInPage.url.href.replace('/sign-in/', '/consent/');
    const skipped = await anna.browser.open(consentUrl, formRequest(signInPage, { decision: 'allow' }));
    expect([skipped.response.status, skipped.leaves]).toEqual([400, undefined]);
  });

  test('redirects with 303, so that browsers do not repeat the POST (27)', async () => {
    const anna = await signUp(server.origin);
    const page = await openAuthorization(anna, {});
    expect((await anna.browser.request(page.url.href, formRequest(page, { decision: 'allow' }))).status).toBe(303);
  });
});

test('"Use another account" signs the user out and shows the sign-in page', async () => {
  const anna = await signUp(server.origin);
  const signInPage = await anna.browser.submit(await openAuthorization(anna, {}), { decision: 'switch' });
  expect(signInPage.url.pathname).toMatch(/^\/sign-in\//);
  const ben = await signUp(server.origin);
  const consent = await anna.browser.submit(signInPage, { email: ben.email, password: ben.password });
  expect(consent.text).toContain(ben.email);
  const { leaves } = await anna.browser.submit(consent, { decision: 'allow' });
  expect(leaves?.searchParams.get('code')).toBeTruthy();
});

test('a suspended user gets the sign-in page, and neither an error nor a code (32)', async () => {
  const anna = await signUp(server.origin);
  const client = await webApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  await authorize(server.origin, anna, request);
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  expect((await openAuthorization(anna, request)).url.pathname).toMatch(/^\/sign-in\//);
  expect((await openAuthorization(anna, { ...request, prompt: 'none' })).leaves?.searchParams.get('error')).toBe('login_required');
  expect(server.failures).toEqual([]);
});

test('a user who is suspended while the consent page is open gets no code', async () => {
  const anna = await signUp(server.origin);
  const page = await openAuthorization(anna, {});
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  const { response, leaves } = await anna.browser.submit(page, { decision: 'allow' });
  expect([response.status, leaves]).toEqual([400, undefined]);
});

test.skipIf(databaseKind === 'pglite')(
  'an application that is deleted while the user allows it gets no code and causes no server error',
  async () => {
    const anna = await signUp(server.origin);
    const client = await webApplication(server.db, ['users.read']);
    const page = await openAuthorization(anna, {
      client_id: client.clientId,
      redirect_uri: client.redirectUri,
      scope: 'openid users.read',
    });
    const removal = server.db.em.fork();
    await removal.begin();
    await removal.execute('delete from applications where client_id = ?', [client.clientId]);
    const submitted = anna.browser.submit(page, { decision: 'allow' });
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await vi.waitFor(async () => expect(await server.db.em.fork().execute<object[]>(waiting)).toHaveLength(1), { timeout: 10_000 });
    await removal.commit();
    const { response } = await submitted;
    expect([response.status < 500, server.failures]).toEqual([true, []]);
  },
);

test('the log of a failed page does not contain the secret part of the page URL', async () => {
  const anna = await signUp(server.origin);
  const page = await openAuthorization(anna, {});
  await server.db.em.fork().execute('alter table consents rename to consents_kept');
  const { response } = await anna.browser.submit(page, { decision: 'allow' });
  await server.db.em.fork().execute('alter table consents_kept rename to consents');
  expect(response.status).toBe(500);
  // JSON, or the text format of the development log
  await expect.poll(() => server.failures.join('')).toMatch(/path(":|=\\)"\/consent\/…/);
  expect(server.failures.join('')).not.toContain(page.url.pathname.split('/').at(-1));
});
