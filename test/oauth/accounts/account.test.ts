import { describe, expect, test } from 'vitest';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import { hasActiveSession, createOtherSession, submitFormContaining } from '../../support/oauth/account-pages.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { readEventTypes } from '../../support/read-event-types.ts';
import { readMailLink, readLastMailTo, extractLink, readMailsTo } from '../../support/services/mailbox.ts';
import { startMandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop, pickupDelivery } from '../../support/shop/test-shop.ts';
import {
  buildAuthorizationRequest,
  authorizationPath,
  sendRefreshRequest,
  signIn,
  signUp,
  obtainTokens,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const newBrowser = () => new HttpBrowser(server.origin);
const newPassword = 'staple battery horse correct';

describe('a change of e-mail address', () => {
  test('takes effect after the user opens the link, and the old address gets a notification', async () => {
    const anna = await signUp(server.origin);
    const email = `new.${crypto.randomUUID()}@example.com`;
    await anna.browser.submit(await anna.browser.open('/account/email'), { email });
    await signIn(server.origin, anna); // the old address is still valid
    const browser = newBrowser();
    const done = await browser.submit(await browser.open(await readMailLink(server.origin, email)), {});
    expect(done.text).toContain('Your e-mail address has been changed');
    await signIn(server.origin, { ...anna, email });
    await expect(signIn(server.origin, anna)).rejects.toThrow('sign-in ended at /sign-in');
    const notification = await readLastMailTo(server.origin, anna.email);
    expect([notification.subject, notification.text.includes(email)]).toEqual(['Your e-mail address for Mandate was changed', true]);
    expect(await readEventTypes(server.db, 'user', anna.id)).toEqual(['user.created', 'user.updated']);
    const [event] = await server.db.em
      .fork()
      .execute(`select data, subject_version from events where type = 'user.updated' and user_id = ?`, [anna.id]);
    expect(event).toMatchObject({ data: { id: anna.id, email, version: 2 }, subject_version: 2 });
  });

  test("to another user's address gets the same response and changes nothing", async () => {
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    const free = `free.${crypto.randomUUID()}@example.com`;
    const requestEmailChange = async (email: string) =>
      (await anna.browser.submit(await anna.browser.open('/account/email'), { email })).text.replaceAll(email, '');
    expect(await requestEmailChange(ben.email)).toBe(await requestEmailChange(free));
    const message = await readLastMailTo(server.origin, ben.email);
    expect(message.text).not.toContain('http');
    await signIn(server.origin, ben);
  });

  test('is rejected if another user registered the address in the meantime', async () => {
    const anna = await signUp(server.origin);
    const email = `race.${crypto.randomUUID()}@example.com`;
    await anna.browser.submit(await anna.browser.open('/account/email'), { email });
    const link = await readMailLink(server.origin, email);
    await server.db.em.fork().execute(`insert into users (name, email) values ('First', ?)`, [email.toUpperCase()]);
    const browser = newBrowser();
    expect((await browser.submit(await browser.open(link), {})).text).toContain('This link is no longer valid');
    await signIn(server.origin, anna);
  });
});

describe('the page of sessions', () => {
  test('lists the signed-in browsers and signs out one browser', async () => {
    const anna = await signUp(server.origin);
    const other = await signIn(server.origin, anna);
    const page = await anna.browser.open('/account/sessions');
    expect(page.text.match(/name="session"/g)).toHaveLength(2);
    expect(page.text.match(/This browser/g)).toHaveLength(1);
    expect(page.text).toMatch(/<button class="danger second" aria-describedby="[^"]*">Sign out everywhere<\/button>/);
    const uids = [...page.text.matchAll(/name="session" value="([^"]+)"/g)].map(([, uid]) => uid ?? '');
    const otherSessionId =
      [...(await other.open('/account/sessions')).text.matchAll(/This browser[^]*?name="session" value="([^"]+)"/g)][0]?.[1] ?? '';
    expect(uids).toContain(otherSessionId);
    await submitFormContaining(anna.browser, page, otherSessionId);
    expect([await hasActiveSession(other), await hasActiveSession(anna.browser)]).toEqual([false, true]);
  });

  test('cannot sign out another user', async () => {
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    const sessionOfBen = /name="session" value="([^"]+)"/.exec((await ben.browser.open('/account/sessions')).text)?.[1] ?? '';
    const page = await anna.browser.open('/account/sessions');
    await submitFormContaining(anna.browser, page, 'name="session"', { session: sessionOfBen });
    expect(await hasActiveSession(ben.browser)).toBe(true);
  });

  test('revokes all sessions and tokens with "Sign out everywhere"', async () => {
    const anna = await signUp(server.origin);
    const otherDevice = await createOtherSession(server.origin, anna);
    const signedOutPage = await submitFormContaining(anna.browser, await anna.browser.open('/account/sessions'), 'value="yes"');
    expect(signedOutPage.text).toContain('You are signed out');
    expect([await hasActiveSession(anna.browser), await hasActiveSession(otherDevice.browser)]).toEqual([false, false]);
    expect(await fetchApiStatus(server, otherDevice.tokens.access_token)).toBe(401);
    expect((await sendRefreshRequest(server.origin, otherDevice.tokens.refresh_token ?? '')).status).toBe(400);
    await signIn(server.origin, anna);
  });

  test('ends the sessions in all other browsers, but not the access of applications, with "Sign out everywhere else"', async () => {
    const anna = await signUp(server.origin);
    const otherDevice = await createOtherSession(server.origin, anna);
    const page = await submitFormContaining(anna.browser, await anna.browser.open('/account/sessions'), 'value="else"');
    expect(page.text).not.toContain('Sign out everywhere else');
    expect([await hasActiveSession(anna.browser), await hasActiveSession(otherDevice.browser)]).toEqual([true, false]);
    expect(await fetchApiStatus(server, otherDevice.tokens.access_token)).toBe(200);
  });

  test('lists a browser that signed in through an application', async () => {
    const anna = await signUp(server.origin);
    const browser = newBrowser();
    const page = await browser.open(authorizationPath(buildAuthorizationRequest().query));
    await browser.submit(page, { email: anna.email, password: anna.password });
    expect((await browser.open('/account/sessions')).text.match(/name="session"/g)).toHaveLength(2);
  });
});

test('the page of applications shows the granted scopes and can remove an application (73)', async () => {
  const anna = await signUp(server.origin);
  const { tokens } = await createOtherSession(server.origin, anna);
  const page = await anna.browser.open('/account/apps');
  expect(page.text).toContain('Mandate command line');
  expect(page.text).toContain('See your name, e-mail address and other account details, such as language and status');
  const app = /name="app" value="(\d+)"/.exec(page.text)?.[1] ?? '';
  const ben = await signUp(server.origin);
  await obtainTokens(server.origin, ben, []);
  await submitFormContaining(ben.browser, await ben.browser.open('/account/apps'), 'name="app"', { app });
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(200);
  await submitFormContaining(anna.browser, page, `value="${app}"`);
  expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
});

describe('closing an account', () => {
  test('revokes all access, deletes personal data and releases the e-mail address', async () => {
    const anna = await signUp(server.origin);
    const otherDevice = await createOtherSession(server.origin, anna);
    const done = await submitFormContaining(anna.browser, await anna.browser.open('/account/close'), 'danger');
    expect(done.text).toContain('Your account is closed');
    expect(await fetchApiStatus(server, otherDevice.tokens.access_token)).toBe(401);
    expect([await hasActiveSession(anna.browser), await hasActiveSession(otherDevice.browser)]).toEqual([false, false]);
    await expect(signIn(server.origin, anna)).rejects.toThrow('sign-in ended at /sign-in');
    const rows = await server.db.em.fork().execute(`select u::text as row from users u where id = ?`, [anna.id]);
    expect(JSON.stringify(rows)).not.toContain(anna.email);
    await signUp(server.origin, { email: anna.email });
  });

  test('is rejected while an order is not complete', async () => {
    const mandate = await startMandateServer();
    const shop = await createTestShop(mandate);
    const anna = await signUp(mandate.origin);
    const { access_token: token } = await obtainTokens(mandate.origin, anna, ['orders.write']);
    const body = { items: [{ product_id: (await shop.createProduct()).id, quantity: 1 }], delivery: pickupDelivery };
    expect((await mandate.callApi('POST', '/api/v1/orders', { token, body })).status).toBe(201);
    const refused = await submitFormContaining(anna.browser, await anna.browser.open('/account/close'), 'danger');
    expect([refused.response.status, await hasActiveSession(anna.browser)]).toEqual([409, true]);
    await mandate.close();
  });

  test('is rejected for the last administrator', async () => {
    const administrator = await signUp(server.origin);
    await server.db.em.fork().execute(`update users set role = 'customer' where role = 'admin'`);
    await server.db.em.fork().execute(`update users set role = 'admin' where id = ?`, [administrator.id]);
    const refused = await submitFormContaining(administrator.browser, await administrator.browser.open('/account/close'), 'danger');
    expect([refused.response.status, await hasActiveSession(administrator.browser)]).toEqual([409, true]);
  });
});

test.each(['/account/password', '/account/email', '/account/sessions', '/account/apps', '/account/close', '/account/security'])(
  'a form of %s with an invalid CSRF token changes nothing',
  async (path) => {
    const anna = await signUp(server.origin);
    const { tokens } = await createOtherSession(server.origin, anna);
    const before = (await readMailsTo(server.origin, anna.email)).length;
    const form = { csrf: 'x', password: newPassword, email: 'evil@example.com', everywhere: 'yes', app: '1' };
    await anna.browser.request(path, { method: 'POST', body: new URLSearchParams(form) });
    expect([await hasActiveSession(anna.browser), await fetchApiStatus(server, tokens.access_token)]).toEqual([true, 200]);
    await signIn(server.origin, anna);
    expect((await readMailsTo(server.origin, anna.email)).length).toBe(before);
  },
);

test('the link in a message points to the server', async () => {
  const anna = await signUp(server.origin);
  await anna.browser.open('/password-reset');
  const link = extractLink(await readLastMailTo(server.origin, anna.email));
  expect(new URL(link).origin).toBe(server.origin);
  expect(server.warnings).toEqual([]);
});
