import { describe, expect, test } from 'vitest';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import { isSignedIn, signInElsewhere, submitForm } from '../../support/oauth/account-pages.ts';
import { Browser } from '../../support/browser/browser.ts';
import { eventsOf } from '../../support/events.ts';
import { followMailTo, lastMailTo, linkIn, mailsTo } from '../../support/services/mailbox.ts';
import { startMandate } from '../../support/server/start-mandate.ts';
import { openShop, pickup } from '../../support/server/shop.ts';
import { authorizationRequest, authorizePath, refresh, signIn, signUp, tokensFor } from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const newBrowser = () => new Browser(server.origin);
const newPassword = 'staple battery horse correct';

describe('another e-mail address', () => {
  test('is used once its link was followed, and the old one is told', async () => {
    const anna = await signUp(server.origin);
    const email = `new.${crypto.randomUUID()}@example.com`;
    await anna.browser.submit(await anna.browser.open('/account/email'), { email });
    await signIn(server.origin, anna); // nothing has changed so far
    const browser = newBrowser();
    const done = await browser.submit(await browser.open(await followMailTo(server.origin, email)), {});
    expect(done.text).toContain('Your e-mail address is changed');
    await signIn(server.origin, { ...anna, email });
    await expect(signIn(server.origin, anna)).rejects.toThrow('sign-in ended at /sign-in');
    const told = await lastMailTo(server.origin, anna.email);
    expect([told.subject, told.text.includes(email)]).toEqual(['Your address at Mandate was changed', true]);
    expect(await eventsOf(server.db, 'user', anna.id)).toEqual(['user.created', 'user.updated']);
    const [event] = await server.db.em
      .fork()
      .execute(`select data, subject_version from events where type = 'user.updated' and user_id = ?`, [anna.id]);
    expect(event).toMatchObject({ data: { id: anna.id, email, version: 2 }, subject_version: 2 });
  });

  test('that belongs to somebody else gets the same answer, and nothing changes', async () => {
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    const free = `free.${crypto.randomUUID()}@example.com`;
    const ask = async (email: string) =>
      (await anna.browser.submit(await anna.browser.open('/account/email'), { email })).text.replaceAll(email, '');
    expect(await ask(ben.email)).toBe(await ask(free));
    const message = await lastMailTo(server.origin, ben.email);
    expect(message.text).not.toContain('http');
    await signIn(server.origin, ben);
  });

  test('that was taken meanwhile is not taken twice', async () => {
    const anna = await signUp(server.origin);
    const email = `race.${crypto.randomUUID()}@example.com`;
    await anna.browser.submit(await anna.browser.open('/account/email'), { email });
    const link = await followMailTo(server.origin, email);
    await server.db.em.fork().execute(`insert into users (name, email) values ('First', ?)`, [email.toUpperCase()]);
    const browser = newBrowser();
    expect((await browser.submit(await browser.open(link), {})).text).toContain('This link is no longer valid');
    await signIn(server.origin, anna);
  });
});

describe('where one is signed in', () => {
  test('lists the browsers, and signs one of them out', async () => {
    const anna = await signUp(server.origin);
    const other = await signIn(server.origin, anna);
    const page = await anna.browser.open('/account/sessions');
    expect(page.text.match(/name="session"/g)).toHaveLength(2);
    expect(page.text.match(/This browser/g)).toHaveLength(1);
    const uids = [...page.text.matchAll(/name="session" value="([^"]+)"/g)].map(([, uid]) => uid ?? '');
    const there =
      [...(await other.open('/account/sessions')).text.matchAll(/This browser[^]*?name="session" value="([^"]+)"/g)][0]?.[1] ?? '';
    expect(uids).toContain(there);
    await submitForm(anna.browser, page, there);
    expect([await isSignedIn(other), await isSignedIn(anna.browser)]).toEqual([false, true]);
  });

  test('signs nobody else out', async () => {
    const [anna, ben] = [await signUp(server.origin), await signUp(server.origin)];
    const his = /name="session" value="([^"]+)"/.exec((await ben.browser.open('/account/sessions')).text)?.[1] ?? '';
    const page = await anna.browser.open('/account/sessions');
    await submitForm(anna.browser, page, 'name="session"', { session: his });
    expect(await isSignedIn(ben.browser)).toBe(true);
  });

  test('"Sign out everywhere" ends every browser and every token', async () => {
    const anna = await signUp(server.origin);
    const elsewhere = await signInElsewhere(server.origin, anna);
    const out = await submitForm(anna.browser, await anna.browser.open('/account/sessions'), 'everywhere');
    expect(out.text).toContain('You are signed out');
    expect([await isSignedIn(anna.browser), await isSignedIn(elsewhere.browser)]).toEqual([false, false]);
    expect(await apiStatus(server, elsewhere.tokens.access_token)).toBe(401);
    expect((await refresh(server.origin, elsewhere.tokens.refresh_token ?? '')).status).toBe(400);
    await signIn(server.origin, anna);
  });

  test('a browser that came by way of an application is among them', async () => {
    const anna = await signUp(server.origin);
    const browser = newBrowser();
    const page = await browser.open(authorizePath(authorizationRequest().query));
    await browser.submit(page, { email: anna.email, password: anna.password });
    expect((await browser.open('/account/sessions')).text.match(/name="session"/g)).toHaveLength(2);
  });
});

test('the page of applications shows what they may do, and removes one (73)', async () => {
  const anna = await signUp(server.origin);
  const { tokens } = await signInElsewhere(server.origin, anna);
  const page = await anna.browser.open('/account/apps');
  expect(page.text).toContain('Mandate command line');
  expect(page.text).toContain('See your name and e-mail address');
  const app = /name="app" value="(\d+)"/.exec(page.text)?.[1] ?? '';
  const ben = await signUp(server.origin);
  await tokensFor(server.origin, ben, []);
  await submitForm(ben.browser, await ben.browser.open('/account/apps'), 'name="app"', { app });
  expect(await apiStatus(server, tokens.access_token)).toBe(200);
  await submitForm(anna.browser, page, `value="${app}"`);
  expect(await apiStatus(server, tokens.access_token)).toBe(401);
});

describe('closing the account', () => {
  test('ends all access, forgets who it was, and gives the address back', async () => {
    const anna = await signUp(server.origin);
    const elsewhere = await signInElsewhere(server.origin, anna);
    const done = await submitForm(anna.browser, await anna.browser.open('/account/close'), 'danger');
    expect(done.text).toContain('Your account is closed');
    expect(await apiStatus(server, elsewhere.tokens.access_token)).toBe(401);
    expect([await isSignedIn(anna.browser), await isSignedIn(elsewhere.browser)]).toEqual([false, false]);
    await expect(signIn(server.origin, anna)).rejects.toThrow('sign-in ended at /sign-in');
    const rows = await server.db.em.fork().execute(`select u::text as row from users u where id = ?`, [anna.id]);
    expect(JSON.stringify(rows)).not.toContain(anna.email);
    await signUp(server.origin, { email: anna.email });
  });

  test('waits for orders that are not finished', async () => {
    const mandate = await startMandate();
    const shop = await openShop(mandate);
    const anna = await signUp(mandate.origin);
    const { access_token: token } = await tokensFor(mandate.origin, anna, ['orders.write']);
    const body = { items: [{ product_id: (await shop.product()).id, quantity: 1 }], delivery: pickup };
    expect((await mandate.call('POST', '/api/v1/orders', { token, body })).status).toBe(201);
    const refused = await submitForm(anna.browser, await anna.browser.open('/account/close'), 'danger');
    expect([refused.response.status, await isSignedIn(anna.browser)]).toEqual([409, true]);
    await mandate.close();
  });

  test('is not for the last administrator', async () => {
    const boss = await signUp(server.origin);
    await server.db.em.fork().execute(`update users set role = 'customer' where role = 'admin'`);
    await server.db.em.fork().execute(`update users set role = 'admin' where id = ?`, [boss.id]);
    const refused = await submitForm(boss.browser, await boss.browser.open('/account/close'), 'danger');
    expect([refused.response.status, await isSignedIn(boss.browser)]).toEqual([409, true]);
  });
});

test.each(['/account/password', '/account/email', '/account/sessions', '/account/apps', '/account/close', '/account/security'])(
  'a form of %s that another site sends changes nothing',
  async (path) => {
    const anna = await signUp(server.origin);
    const { tokens } = await signInElsewhere(server.origin, anna);
    const before = (await mailsTo(server.origin, anna.email)).length;
    const form = { csrf: 'x', password: newPassword, email: 'evil@example.com', everywhere: 'yes', app: '1' };
    await anna.browser.request(path, { method: 'POST', body: new URLSearchParams(form) });
    expect([await isSignedIn(anna.browser), await apiStatus(server, tokens.access_token)]).toEqual([true, 200]);
    await signIn(server.origin, anna);
    expect((await mailsTo(server.origin, anna.email)).length).toBe(before);
  },
);

test('nothing in a message is a link that somebody could plant', async () => {
  const anna = await signUp(server.origin);
  await anna.browser.open('/password-reset');
  const link = linkIn(await lastMailTo(server.origin, anna.email));
  expect(new URL(link).origin).toBe(server.origin);
  expect(server.failures).toEqual([]);
});
