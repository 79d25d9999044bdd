import { describe, expect, test } from 'vitest';
import { formatIpAddress, getNetworkOfIpAddress } from '../../../server/oauth/sessions/ip-address-and-network.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { createOtherSession, submitFormContaining } from '../../support/oauth/account-pages.ts';
import { addAuthenticatorApp, insertPasskey } from '../../support/oauth/credentials.ts';
import { obtainLimitedTokens } from '../../support/oauth/limited-tokens.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  createWebApplication,
  obtainTokens,
  signIn,
  signInToApplication,
  signUp,
} from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus } from '../../support/server/use-server.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { buildOrderInput, deliveryAddress } from '../../support/shop/test-shop.ts';

const shop = withShop();

/** Returns the text of a page, without markup. */
const plainText = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

describe('the account page', () => {
  test('shows the recent orders with status and amount, and links to them', async () => {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
    const product = await shop.createProduct({ price: 1050, currency: 'EUR' });
    const orders = [];
    for (let count = 0; count < 4; count += 1) orders.push(await shop.placeOrder(buildOrderInput([product, 2]), token));
    const page = await anna.browser.open('/account');
    expect([...page.text.matchAll(/href="\/account\/orders\/(\d+)"/g)].map(([, id]) => Number(id))).toEqual(
      orders
        .slice(1)
        .map(({ id }) => id)
        .toReversed(),
    );
    expect(plainText(page.text)).toMatch(/Order \d+ \w+ \d+, \d{4} Waiting for payment €21\.00/);
    expect(page.text.match(/<small><span class="badge waiting">Waiting for payment<\/span><\/small>/g)).toHaveLength(3);
  });

  test('shows the applications with their limits and last use', async () => {
    const anna = await signUp(shop.origin);
    const limits = { currency: 'EUR', per_order: 3000, per_period: 5000, period: 'month' };
    const { access_token: token } = await obtainLimitedTokens(shop.origin, anna, ['orders.write'], { limits });
    await shop.placeOrder(buildOrderInput([await shop.createProduct({ price: 1250, currency: 'EUR' }), 1]), token);
    const text = plainText((await anna.browser.open('/account')).text);
    expect(text).toContain('Mandate command line Last used');
    expect(text).toContain('At most €30.00 per order. €12.50 of €50.00 spent this month');
  });

  test('summarizes the security of the account', async () => {
    const anna = await signUp(shop.origin);
    const before = plainText((await anna.browser.open('/account')).text);
    expect(before).toContain('Two-step verification is off. No passkeys.');
    expect(before).toContain('Signed in on one browser');
    await addAuthenticatorApp(anna.browser);
    await insertPasskey(shop, anna.id, 'Phone');
    const after = plainText((await anna.browser.open('/account')).text);
    expect(after).toContain('The authenticator app is on, with 10 recovery codes. One passkey.');
  });

  test('links to every account page that has no section of its own', async () => {
    const { text } = await (await signUp(shop.origin)).browser.open('/account');
    for (const page of ['profile', 'email', 'language', 'api-keys', 'close', 'password', 'security', 'sessions'])
      expect(text).toContain(`href="/account/${page}"`);
    expect(text).not.toContain('/account/branding');
  });
});

describe('the pages of orders', () => {
  test('list all orders of the customer in pages, newest first', async () => {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
    const product = await shop.createProduct();
    const ids: unknown[] = [];
    for (let count = 0; count < 22; count += 1) ids.unshift((await shop.placeOrder(buildOrderInput([product, 1]), token))['id']);
    const listed: number[] = [];
    for (let path: string | undefined = '/account/orders'; path !== undefined;) {
      const { text } = await anna.browser.open(path);
      listed.push(...[...text.matchAll(/href="\/account\/orders\/(\d+)"/g)].map(([, id]) => Number(id)));
      path = /href="(\/account\/orders\?older_than=\d+)"/.exec(text)?.[1];
    }
    expect(listed).toEqual(ids);
  });

  test('show one order with lines, totals, delivery and the application that placed it', async () => {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
    const product = await shop.createProduct({ name: 'Tea & <Cake>', price: 500, currency: 'EUR' });
    const order = await shop.placeOrder({ ...buildOrderInput([product, 3]), reference: 'PO-7' }, token);
    const { text } = await anna.browser.open(`/account/orders/${order['id']}`);
    expect(text).toContain('Tea &amp; &lt;Cake&gt;');
    expect(plainText(text)).toMatch(/3 × €5\.00 €15\.00.*Total €15\.00.*Delivery Anna Test/);
    expect(plainText(text)).toContain('Placed by Mandate command line');
    expect(plainText(text)).toContain('Reference PO-7');
  });

  test('show the note, and the address in the order of its country and in the language of the page', async () => {
    const anna = await signUp(shop.origin);
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
    const delivery = { method: 'standard', recipient_name: 'Anna Test', ...deliveryAddress };
    const { id } = await shop.placeOrder({ delivery, note: 'Please ring twice.' }, token);
    const { text } = await anna.browser.open(`/account/orders/${id}`);
    expect(text).toContain('1 High Street<br />Leeds<br />LS1 1AA<br />United Kingdom<br />');
    expect(text).toContain('Note: Please ring twice.');
    expect(plainText((await anna.browser.open(`/account/orders/${id}?language=de`)).text)).toContain('LS1 1AA Vereinigtes Königreich');
  });

  test('do not show the orders of another customer', async () => {
    const [anna, ben] = [await signUp(shop.origin), await signUp(shop.origin)];
    const { access_token: token } = await obtainTokens(shop.origin, anna, ['orders.write']);
    const { id } = await shop.placeOrder(buildOrderInput([await shop.createProduct(), 1]), token);
    expect((await anna.browser.open(`/account/orders/${id}`)).url.pathname).toBe(`/account/orders/${id}`);
    expect((await ben.browser.open(`/account/orders/${id}`)).url.pathname).toBe('/account/orders');
    expect((await ben.browser.open(`/account/orders?older_than=${id}`)).text).not.toContain('/account/orders/');
    expect((await ben.browser.open('/account/orders/unknown')).url.pathname).toBe('/account/orders');
  });
});

describe('the profile page', () => {
  test('changes the name and records the event', async () => {
    const anna = await signUp(shop.origin);
    const done = await anna.browser.submit(await anna.browser.open('/account/profile'), { name: ' Anna <b>New</b> ' });
    expect(done.text).toContain('Your name is now Anna &lt;b&gt;New&lt;/b&gt;.');
    expect((await anna.browser.open('/account')).text).toContain('Anna &lt;b&gt;New&lt;/b&gt;');
    expect(await readEventTypes(shop.db, 'user', anna.id)).toEqual(['user.created', 'user.updated']);
    await anna.browser.submit(await anna.browser.open('/account/profile'), { name: 'Anna <b>New</b>' });
    expect(await readEventTypes(shop.db, 'user', anna.id)).toHaveLength(2); // the name did not change
  });

  test.each([
    ['', 'Enter your name (up to 200 characters)'],
    ['x'.repeat(201), 'Enter your name (up to 200 characters)'],
    ['Anna\u202E', 'Remove the invisible character U+202E from the name'],
  ])('rejects the name %j', async (name, fault) => {
    const anna = await signUp(shop.origin);
    const page = await anna.browser.submit(await anna.browser.open('/account/profile'), { name });
    expect([page.response.status, page.text.includes(fault)]).toEqual([400, true]);
    expect(await readEventTypes(shop.db, 'user', anna.id)).toEqual(['user.created']);
  });

  test('keeps the typed name if the form has no valid token', async () => {
    const anna = await signUp(shop.origin);
    const page = await anna.browser.submit(await anna.browser.open('/account/profile'), { name: 'Anna Two', csrf: 'guessed' });
    expect([page.response.status, page.text.includes('value="Anna Two"')]).toEqual([400, true]);
    expect(await readEventTypes(shop.db, 'user', anna.id)).toEqual(['user.created']);
  });
});

describe('an application that was allowed on two devices', () => {
  test('is one entry with both devices, which can be removed one by one or together', async () => {
    const anna = await signUp(shop.origin);
    const allowInNewBrowser = async () => obtainTokens(shop.origin, { ...anna, browser: await signIn(shop.origin, anna) }, ['users.read']);
    const [first, second] = [await allowInNewBrowser(), await allowInNewBrowser()];
    const page = await anna.browser.open('/account/apps');
    expect(page.text.match(/<strong>Mandate command line<\/strong>/g)).toHaveLength(1);
    const [, newest = '', oldest = ''] = /name="app" value="(\d+),(\d+),\d+"/.exec(page.text) ?? [];
    const third = await allowInNewBrowser();
    await submitFormContaining(anna.browser, page, `value="${oldest}"`);
    const statuses = async () => Promise.all([first, second, third].map(({ access_token: token }) => fetchApiStatus(shop, token)));
    expect(await statuses()).toEqual([401, 200, 200]);
    await submitFormContaining(anna.browser, await anna.browser.open('/account/apps'), `,${newest},`);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  test('lists its permissions once if they are the same on both devices, and otherwise for each device', async () => {
    const application = await createWebApplication(shop.db, ['users.read', 'payments.read']);
    const countPermissions = async (...scopesOfDevices: readonly string[]): Promise<number[]> => {
      const anna = await signUp(shop.origin);
      for (const scope of scopesOfDevices)
        await signInToApplication(shop.origin, { browser: await signIn(shop.origin, anna) }, application, { scope });
      const { text } = await anna.browser.open('/account/apps');
      return ['See your name', 'See your payments'].map((permission) => text.split(permission).length - 1);
    };
    expect(await countPermissions('openid users.read payments.read', 'openid payments.read users.read')).toEqual([1, 1]);
    expect(await countPermissions('openid users.read payments.read', 'openid users.read')).toEqual([2, 1]);
  });
});

test('the sign-in page shows the account that is signed in, and fills in its e-mail address if it must sign in again', async () => {
  const anna = await signUp(shop.origin, { name: 'Anna <b>Signed</b>' });
  const page = await anna.browser.open('/sign-in');
  const name = 'Anna &lt;b&gt;Signed&lt;/b&gt;';
  expect(plainText(page.text)).toContain(`You are signed in as ${name} ${anna.email} Continue as ${name}`);
  const again = await anna.browser.open(authorizationPath(buildAuthorizationRequest({ prompt: 'login' }).query));
  expect(plainText(again.text)).toMatch(/You are signed in as Anna/);
  expect(again.text).toContain(`value="${anna.email}"`);
  expect(again.text).not.toContain('Continue as'); // the application waits for the sign-in
  const other = await new HttpBrowser(shop.origin).open('/sign-in');
  expect(other.text).not.toContain('You are signed in as');
});

describe('the times on account pages', () => {
  const openWithTimeZone = async (browser: HttpBrowser, timeZone: string | undefined): Promise<string> => {
    const cookie = [browser.cookieHeader('/'), ...(timeZone === undefined ? [] : [`mandate_time_zone=${timeZone}`])].join('; ');
    const response = await fetch(`${shop.origin}/account/sessions`, { headers: { cookie, accept: 'text/html' } });
    return plainText(await response.text());
  };

  test.each([
    ['Europe/Berlin', 'Signed in Mar 4, 2026, 00:30 Last active'],
    ['America/New_York', 'Signed in Mar 3, 2026, 18:30 Last active'],
    ['Asia/Kolkata', 'Signed in Mar 4, 2026, 05:00 Last active'],
    ['Nowhere/City', 'Signed in Mar 3, 2026, 23:30 UTC Last active'],
    ['<script>', 'Signed in Mar 3, 2026, 23:30 UTC Last active'],
    [undefined, 'Signed in Mar 3, 2026, 23:30 UTC Last active'],
  ])('in a browser with the time zone %s', async (timeZone, text) => {
    const anna = await signUp(shop.origin);
    await shop.db.em.fork().execute(`update browser_sessions set started_at = '2026-03-03T23:30:00Z' where user_id = ?`, [anna.id]);
    expect(await openWithTimeZone(anna.browser, timeZone)).toContain(text);
  });
});

test('opening an account page counts as use of the session, at most every five minutes', async () => {
  const anna = await signUp(shop.origin);
  const readLastUse = async (minutesAgo: number): Promise<number> => {
    const at = new Date(Date.now() - minutesAgo * 60_000);
    await shop.db.em.fork().execute('update browser_sessions set last_used_at = ? where user_id = ?', [at, anna.id]);
    await anna.browser.open('/account');
    const sql = `select round(extract(epoch from now() - last_used_at) / 60) as minutes from browser_sessions where user_id = ?`;
    const [row] = await shop.db.em.fork().execute<{ minutes: string }[]>(sql, [anna.id]);
    return Number(row?.minutes);
  };
  expect([await readLastUse(6), await readLastUse(4)]).toEqual([0, 4]);
});

test('the list of sessions begins with this browser, and shows the IP address of each session', async () => {
  const anna = await signUp(shop.origin);
  const { browser } = await createOtherSession(shop.origin, anna);
  await signIn(shop.origin, anna);
  for (const current of [anna.browser, browser]) {
    const text = plainText((await current.open('/account/sessions')).text);
    expect(text.indexOf('This browser')).toBeLessThan(text.indexOf('Sign out'));
    expect(text).toMatch(new RegExp(`This browser IP address ${current.ipAddress} Signed in`));
    expect(text.match(/IP address \d+\.\d+\.\d+\.\d+/g)).toHaveLength(3);
  }
});

test("the list of sessions marks a session from this browser's network", async () => {
  const anna = await signUp(shop.origin);
  const neighbor = new HttpBrowser(
    shop.origin,
    anna.browser.ipAddress.replace(/\d+$/, (part) => (part === '1' ? '2' : '1')),
  );
  await neighbor.submit(await neighbor.open('/sign-in'), { email: anna.email, password: anna.password });
  const text = plainText((await anna.browser.open('/account/sessions')).text);
  expect(text).toContain(`${neighbor.ipAddress}, same network as this browser`);
  expect(text).not.toContain(`${anna.browser.ipAddress}, same`);
});

test('an IPv4 address in IPv6 notation is shown as IPv4', () => {
  expect(formatIpAddress('::ffff:203.0.113.57')).toBe('203.0.113.57');
  expect(formatIpAddress('2001:db8::1')).toBe('2001:db8::1');
});

test.each([
  ['203.0.113.57', '203.0.113.*'],
  ['::ffff:203.0.113.57', '203.0.113.*'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::*'],
  ['2001:DB8::1', '2001:db8:0::*'],
  ['::1', '0:0:0::*'],
  ['fe80::1%eth0', 'fe80:0:0::*'],
  ['unknown', undefined],
  [null, undefined],
])('the network of the address %s is %s', (address, network) => {
  expect(getNetworkOfIpAddress(address)).toBe(network);
});
