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

const open = ({ browser }: Pick<Person, 'browser'>, given: Record<string, string>): Promise<Page> =>
  browser.open(authorizePath(authorizationRequest(given).query));
const onConsent = ({ url }: Page): boolean => url.pathname.startsWith('/consent/');

test('a native application is asked about every time, a website once per person, whatever the browser (30)', async () => {
  const anna = await signUp(server.origin);
  for (let time = 0; time < 2; time += 1) {
    expect(onConsent(await open(anna, { scope: 'openid users.read' }))).toBe(true);
    await authorize(server.origin, anna, { scope: 'openid users.read' });
  }
  const client = await webApplication(server.db, ['users.read', 'orders.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  await authorize(server.origin, anna, request);
  const elsewhere = { browser: await signIn(server.origin, anna) };
  const page = await open(elsewhere, request);
  expect(page.leaves?.searchParams.get('code')).toBeTruthy();
  expect(onConsent(await open(elsewhere, { ...request, scope: 'openid users.read orders.read' }))).toBe(true);
  expect(onConsent(await open(await signUp(server.origin), request))).toBe(true);
});

test.each(['https://app.example/callback', 'http://127.0.0.1/callback'])(
  'a confidential application with a redirect URI on the loopback interface is asked about once: by %s',
  async (redirectUri) => {
    const { clientId } = await webApplication(server.db, ['users.read'], 'https://app.example/callback', 'http://127.0.0.1/callback');
    const anna = await signUp(server.origin);
    const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' };
    expect(onConsent(await open(anna, request))).toBe(true);
    await authorize(server.origin, anna, request);
    expect((await open(anna, request)).leaves?.searchParams.get('code')).toBeTruthy();
  },
);

test('the tokens of a remembered consent are good, and apart from the first ones (30, 63)', async () => {
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

test('the page says in words what, for whom and how long', async () => {
  const anna = await signUp(server.origin, { name: 'Anna <b>Bold</b>' });
  const { text } = await open(anna, { scope: 'openid users.read orders.write offline_access' });
  expect(text).toContain('See your name and e-mail address');
  expect(text).toContain('Place orders in your name: you pay for them');
  expect(text).toContain('Anna &lt;b&gt;Bold&lt;/b&gt;');
  expect(text).toContain(anna.email);
  expect(text).toContain('90 days');
  expect(text.replace(/<[^>]*>/g, '')).not.toMatch(/\b(client|scope|grant|token|OAuth)\b/i);
});

test('a logo is part of the page, and one that lies elsewhere is not loaded: nobody learns who looks at the page', async () => {
  const anna = await signUp(server.origin);
  const client = await webApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  const shows = async (logo: string): Promise<string[]> => {
    await server.db.em.fork().execute('update applications set logo_uri = ? where client_id = ?', [logo, client.clientId]);
    const { text } = await open(anna, request);
    return [...text.matchAll(/<img[^>]* src="([^"]*)"/g)].map(([, address = '']) => address);
  };
  expect(await shows(encodePng(64))).toEqual([encodePng(64)]);
  expect(await shows('https://tracker.example/logo.png')).toEqual([]);
});

test('Cancel tells the application, with state and issuer (28)', async () => {
  const { leaves } = await authorize(server.origin, await signUp(server.origin), { state: 'abc' }, { decision: 'cancel' });
  expect(Object.fromEntries(leaves.searchParams)).toMatchObject({ error: 'access_denied', state: 'abc', iss: server.origin });
});

test('what is unticked is not granted (29)', async () => {
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

test('what was not asked for cannot be ticked', async () => {
  const anna = await signUp(server.origin);
  const granted = await authorize(
    server.origin,
    anna,
    { scope: 'openid orders.read' },
    { decision: 'allow', scope: ['orders.read', 'orders.write'] },
  );
  expect(tokenResponse.parse(await (await redeem(server.origin, granted)).json()).scope).toBe('openid orders.read');
});

describe('what reaches beyond the own things (31)', () => {
  const scope = 'openid users.read orders.manage';

  test('is neither offered nor granted to a customer', async () => {
    const anna = await signUp(server.origin);
    const page = await open(anna, { scope });
    expect(page.text).not.toContain('value="orders.manage"');
    const granted = await authorize(server.origin, anna, { scope }, { decision: 'allow', scope: ['users.read', 'orders.manage'] });
    expect(tokenResponse.parse(await (await redeem(server.origin, granted)).json()).scope).toBe('openid users.read');
  });

  test('is offered to an administrator, and looks different', async () => {
    const boss = await signUpAs(server.db, server.origin, 'admin');
    expect((await open(boss, { scope })).text).toMatch(/class="careful"[^]*See, place, change and cancel the orders of every customer/);
    const tokens = tokenResponse.parse(await (await redeem(server.origin, await authorize(server.origin, boss, { scope }))).json());
    expect(tokens.scope).toBe(scope);
  });

  test('is lost with the role, also for what was remembered', async () => {
    const boss = await signUpAs(server.db, server.origin, 'admin');
    const client = await webApplication(server.db, ['users.read', 'orders.manage']);
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope };
    await authorize(server.origin, boss, request);
    expect(onConsent(await open(boss, request))).toBe(false);
    await server.db.em.fork().execute(`update users set role = 'customer' where id = ?`, [boss.id]);
    expect((await open(boss, request)).text).not.toContain('value="orders.manage"');
  });

  const roles = ['customer', 'staff', 'admin'] as const;
  const cases = scopeNames.flatMap((name) =>
    roles.filter((role) => !rolesForScope(name).includes(role)).map((role) => [name, role] as const),
  );
  const people = new Map<string, Promise<Person>>();
  const personAs = (role: (typeof roles)[number]): Promise<Person> => {
    const person = people.get(role) ?? signUpAs(server.db, server.origin, role);
    people.set(role, person);
    return person;
  };

  test.each(cases)('%s is named to a user with the role %s, with the way to another account', async (name, role) => {
    const person = await personAs(role);
    const { text } = await open(person, { scope: `openid users.read ${name}` });
    const [, refused = ''] = /<div class="warning" role="alert">([^]*?)<\/div>/.exec(text) ?? [];
    expect(refused).toContain(`<code>${name}</code>`);
    expect(refused).toContain(scopeDefinitions[name].consent);
    expect(refused).toMatch(/<button[^>]* form="switch">Use another account</);
    expect(text).not.toContain(`value="${name}"`);
    expect(text).toContain('value="users.read"');
  });

  test('alone can only be cancelled, or allowed by another user', async () => {
    const anna = await signUp(server.origin);
    const page = await open(anna, { scope: 'orders.manage' });
    expect(page.text).toContain('<code>orders.manage</code>');
    expect(page.text).not.toContain('value="allow"');
    const allowed = await anna.browser.submit(page, { decision: 'allow' });
    expect(allowed.leaves?.searchParams.get('error')).toBe('access_denied');
    const boss = await signUpAs(server.db, server.origin, 'admin');
    const signInPage = await anna.browser.submit(await open(anna, { scope: 'orders.manage' }), { decision: 'switch' });
    const consent = await anna.browser.submit(signInPage, { email: boss.email, password: boss.password });
    expect(consent.text).toContain('value="orders.manage"');
    expect((await anna.browser.submit(consent, { decision: 'allow' })).leaves?.searchParams.get('code')).toBeTruthy();
  });

  test('is allowed to a device by another user', async () => {
    const [anna, boss] = [await signUp(server.origin), await signUpAs(server.db, server.origin, 'admin')];
    const device = await beginOnDevice(server.origin, scope);
    const page = await anna.browser.submit(await enterCode(anna, device.user_code), {});
    expect(page.text).toContain('<code>orders.manage</code>');
    const signInPage = await anna.browser.submit(page, { decision: 'switch' });
    expect(signInPage.url.pathname).toMatch(/^\/sign-in\//);
    const consent = await anna.browser.submit(signInPage, { email: boss.email, password: boss.password });
    expect(consent.text).toContain(boss.email);
    expect((await anna.browser.submit(consent, { decision: 'allow' })).response.status).toBe(200);
    await server.db.em.fork().execute(wait);
    const tokens = tokenResponse.parse(await (await askFromDevice(server.origin, device.device_code)).json());
    expect(tokens.scope).toBe(scope);
    const me = await fetch(`${server.origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ id: boss.id });
  });
});

describe('the form', () => {
  test('cannot be sent from another browser (24), or without its hidden field', async () => {
    const [anna, eve] = [await signUp(server.origin), await signUp(server.origin)];
    const page = await open(anna, {});
    const stolen = await eve.browser.open(page.url.href, formRequest(page, { decision: 'allow' }));
    expect([stolen.response.status, stolen.leaves]).toEqual([400, undefined]);
    const forged = await anna.browser.open(page.url.href, { method: 'POST', body: new URLSearchParams({ decision: 'allow' }) });
    expect([onConsent(forged), forged.leaves]).toEqual([true, undefined]);
  });

  test('cannot be sent before the sign-in (25)', async () => {
    const anna = await signUp(server.origin);
    const signInPage = await open(anna, { prompt: 'login' });
    const consentUrl = signInPage.url.href.replace('/sign-in/', '/consent/');
    const skipped = await anna.browser.open(consentUrl, formRequest(signInPage, { decision: 'allow' }));
    expect([skipped.response.status, skipped.leaves]).toEqual([400, undefined]);
  });

  test('answers with 303, so that nothing is sent on (27)', async () => {
    const anna = await signUp(server.origin);
    const page = await open(anna, {});
    expect((await anna.browser.request(page.url.href, formRequest(page, { decision: 'allow' }))).status).toBe(303);
  });
});

test('"Use another account" signs out and begins anew', async () => {
  const anna = await signUp(server.origin);
  const again = await anna.browser.submit(await open(anna, {}), { decision: 'switch' });
  expect(again.url.pathname).toMatch(/^\/sign-in\//);
  const ben = await signUp(server.origin);
  const consent = await anna.browser.submit(again, { email: ben.email, password: ben.password });
  expect(consent.text).toContain(ben.email);
  const { leaves } = await anna.browser.submit(consent, { decision: 'allow' });
  expect(leaves?.searchParams.get('code')).toBeTruthy();
});

test('a person who was stopped meets the sign-in page, not an error and not a code (32)', async () => {
  const anna = await signUp(server.origin);
  const client = await webApplication(server.db, ['users.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' };
  await authorize(server.origin, anna, request);
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  expect((await open(anna, request)).url.pathname).toMatch(/^\/sign-in\//);
  expect((await open(anna, { ...request, prompt: 'none' })).leaves?.searchParams.get('error')).toBe('login_required');
  expect(server.failures).toEqual([]);
});

test('a person who is stopped while the page is open gets no code', async () => {
  const anna = await signUp(server.origin);
  const page = await open(anna, {});
  await server.db.em.fork().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
  const { response, leaves } = await anna.browser.submit(page, { decision: 'allow' });
  expect([response.status, leaves]).toEqual([400, undefined]);
});

test.skipIf(databaseKind === 'pglite')(
  'an application that is removed at the moment it is allowed gets no code, and breaks nothing',
  async () => {
    const anna = await signUp(server.origin);
    const client = await webApplication(server.db, ['users.read']);
    const page = await open(anna, { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid users.read' });
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

test('a page that fails inside names nothing in the log that opens it again', async () => {
  const anna = await signUp(server.origin);
  const page = await open(anna, {});
  await server.db.em.fork().execute('alter table consents rename to consents_kept');
  const { response } = await anna.browser.submit(page, { decision: 'allow' });
  await server.db.em.fork().execute('alter table consents_kept rename to consents');
  expect(response.status).toBe(500);
  // in JSON, or in the words of a process in development
  await expect.poll(() => server.failures.join('')).toMatch(/path(":|=\\)"\/consent\/…/);
  expect(server.failures.join('')).not.toContain(page.url.pathname.split('/').at(-1));
});
