import { beforeEach, describe, expect, test } from 'vitest';
import { HttpBrowser, buildFormRequest } from '../../support/browser/browser.ts';
import { databaseKind } from '../../support/services/database.ts';
import { sendTokenRequest, basicAuthorization, createConfidentialClient, signUp, signUpWithRole } from '../../support/oauth/oauth-flow.ts';
import { isAccountPage, submitPassword, wrongCredentials } from '../../support/oauth/sign-in-attempts.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
beforeEach(() => server.db.em.fork().execute('delete from attempts'));

describe('wrong passwords from one network', () => {
  test.each(['customer', 'admin'] as const)('lock out that network but not the owner: %s', async (role) => {
    const owner = await signUpWithRole(server.db, server.origin, role);
    const [attacker, ownerBrowser] = ['198.51.100.20', '203.0.113.20'].map((address) => new HttpBrowser(server.origin, address));
    for (let time = 0; time < 10; time += 1) {
      expect((await submitPassword(server, wrongCredentials(owner.email), attacker)).response.status).toBe(400);
    }
    expect((await submitPassword(server, owner, attacker)).response.status).toBe(429);
    expect(isAccountPage(await submitPassword(server, owner, ownerBrowser))).toBe(true);
    expect((await submitPassword(server, wrongCredentials(owner.email), attacker)).response.status).toBe(429);
    expect(isAccountPage(await submitPassword(server, owner, ownerBrowser))).toBe(true);
  });

  test('do not affect a browser in the same network that has signed in before', async () => {
    const address = '198.51.100.21';
    const owner = await signUp(server.origin);
    const knownBrowser = new HttpBrowser(server.origin, address);
    expect(isAccountPage(await submitPassword(server, owner, knownBrowser))).toBe(true);
    const attacker = new HttpBrowser(server.origin, address);
    for (let time = 0; time < 10; time += 1) await submitPassword(server, wrongCredentials(owner.email), attacker);
    expect((await submitPassword(server, owner, new HttpBrowser(server.origin, address))).response.status).toBe(429);
    await knownBrowser.request('/sign-out', buildFormRequest(await knownBrowser.open('/account'), {}));
    expect(isAccountPage(await submitPassword(server, owner, knownBrowser))).toBe(true);
  });

  test('from a known browser lock out only that browser', async () => {
    const address = '198.51.100.22';
    const owner = await signUp(server.origin);
    const knownBrowser = new HttpBrowser(server.origin, address);
    await submitPassword(server, owner, knownBrowser);
    for (let time = 0; time < 10; time += 1) await submitPassword(server, wrongCredentials(owner.email), knownBrowser);
    expect((await submitPassword(server, owner, knownBrowser)).response.status).toBe(429);
    expect(isAccountPage(await submitPassword(server, owner, new HttpBrowser(server.origin, address)))).toBe(true);
  });

  test('a browser is known only for the account that signed in, and only until the password changes', async () => {
    const address = '198.51.100.23';
    const [owner, other] = [await signUp(server.origin), await signUp(server.origin)];
    const browser = new HttpBrowser(server.origin, address);
    await submitPassword(server, owner, browser);
    const attacker = new HttpBrowser(server.origin, address);
    for (const { email } of [owner, other])
      for (let time = 0; time < 10; time += 1) await submitPassword(server, wrongCredentials(email), attacker);
    expect((await submitPassword(server, other, browser)).response.status).toBe(429);
    await server.db.em.fork().execute('update passwords set changed_at = now() where user_id = ?', [owner.id]);
    expect((await submitPassword(server, owner, browser)).response.status).toBe(429);
  });

  test('the browser in which the password is changed remains known', async () => {
    const address = '198.51.100.26';
    const owner = await signUp(server.origin);
    const browser = new HttpBrowser(server.origin, address);
    await submitPassword(server, owner, browser);
    const password = 'x7kq-2m9p-zw44-abcd';
    const changed = await browser.submit(await browser.open('/account/password'), { password });
    expect(changed.text).toContain('Your password has been changed');
    const attacker = new HttpBrowser(server.origin, address);
    for (let time = 0; time < 10; time += 1) await submitPassword(server, wrongCredentials(owner.email), attacker);
    await browser.request('/sign-out', buildFormRequest(await browser.open('/account'), {}));
    expect(isAccountPage(await submitPassword(server, { ...owner, password }, browser))).toBe(true);
  });

  test('a forged or damaged cookie does not make a browser known and causes no server error', async () => {
    const owner = await signUp(server.origin);
    const browser = new HttpBrowser(server.origin, '198.51.100.24');
    const page = await browser.open('/sign-in');
    for (let time = 0; time < 10; time += 1) await browser.submit(page, wrongCredentials(owner.email));
    const statusWith = async (cookie: string): Promise<number> => {
      const headers = { cookie: `${browser.cookieHeader('/sign-in')}; mandate_browser=${cookie}`, 'x-forwarded-for': browser.ipAddress };
      return (
        await fetch(page.url, { ...buildFormRequest(page, { email: owner.email, password: owner.password }), headers, redirect: 'manual' })
      ).status;
    };
    const value = owner.browser.cookieValue('mandate_browser') ?? '';
    const other = (await signUp(server.origin)).browser.cookieValue('mandate_browser') ?? '';
    for (const forged of [value.slice(0, -4), value.replace(/^./, '~'), 'x', '', Buffer.from('{}').toString('base64url'), other]) {
      expect([forged, await statusWith(forged)]).toEqual([forged, 429]);
    }
    expect(await statusWith(value)).toBe(303);
  });
});

test.skipIf(databaseKind === 'pglite')('concurrent guesses from one network are counted exactly', async () => {
  const { email } = await signUp(server.origin);
  const browser = new HttpBrowser(server.origin, '198.51.100.30');
  const page = await browser.open('/sign-in');
  const pages = await Promise.all(Array.from({ length: 40 }, () => browser.submit(page, wrongCredentials(email))));
  const count = (status: number): number => pages.filter(({ response }) => response.status === status).length;
  expect([count(400), count(429)]).toEqual([10, 30]);
  const rows = await server.db.em
    .fork()
    .execute<{ key: string; points: number }[]>(`select key, points from attempts where key like 'password.%' order by key`);
  // a rejected attempt counts only for its network, so that a single network cannot exhaust an account's limit
  expect(rows.map(({ key, points }) => `${key.split(':', 1)[0]} ${points}`)).toEqual([
    'password.ceiling 10',
    'password.network 10',
    'password.source 40',
  ]);
});

test('wrong client secrets are counted per network, where an IPv6 /64 is one network', async () => {
  const client = await createConfidentialClient(server.db, ['orders.manage']);
  const requestTokens = (secret: string, address: string) =>
    sendTokenRequest(
      server.origin,
      { grant_type: 'client_credentials' },
      { ...basicAuthorization(client.clientId, secret), 'x-forwarded-for': address },
    );
  const statuses: number[] = [];
  for (let at = 0; at < 11; at += 1) statuses.push((await requestTokens('wrong', `2001:db8:9:9::${at.toString(16)}`)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  expect((await requestTokens(client.secret, '2001:db8:9:a::1')).status).toBe(200);
});

describe('e-mails to one address', () => {
  const request = async (email: string, browser: HttpBrowser): Promise<number> =>
    (await browser.submit(await browser.open('/password-reset'), { email })).response.status;

  test('from another network do not prevent the owner from requesting an e-mail', async () => {
    const owner = await signUp(server.origin);
    const other = new HttpBrowser(server.origin, '198.51.100.50');
    const statuses: number[] = [];
    for (let time = 0; time < 6; time += 1) statuses.push(await request(owner.email, other));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await request(owner.email, new HttpBrowser(server.origin, '203.0.113.50'))).toBe(200);
  });

  test('are limited to 20 per hour over all networks, except for a known browser of the owner', async () => {
    const owner = await signUp(server.origin);
    let sent = 0;
    for (let time = 0; time < 22; time += 1) if ((await request(owner.email, new HttpBrowser(server.origin))) === 200) sent += 1;
    expect(sent).toBe(19); // the sign-up e-mail also counts
    expect(await request(owner.email, owner.browser)).toBe(200);
  });
});
