import { describe, expect, test } from 'vitest';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { readMailLink, readLastMailTo, extractLink, readMailsTo } from '../../support/services/mailbox.ts';
import { buildAuthorizationRequest, authorizationPath, completeSignUp, signIn, signUp } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const newBrowser = (address?: string) => new HttpBrowser(server.origin, address);
const uniqueId = (): string => crypto.randomUUID();
const newUserDetails = () => ({ name: 'Ann', email: `ann.${uniqueId()}@example.com`, password: 'correct horse battery' });

async function openSignUpLink(email: string): Promise<{ browser: HttpBrowser; page: Awaited<ReturnType<HttpBrowser['open']>> }> {
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-up'), { email });
  return { browser, page: await browser.open(await readMailLink(server.origin, email)) };
}

test('a user enters the e-mail address first, and chooses name and password after opening the mailed link', async () => {
  const ann = newUserDetails();
  const browser = newBrowser();
  const requestPage = await browser.submit(await browser.open('/sign-up'), { email: ann.email });
  expect(requestPage.text).toContain('Check your e-mail');
  expect(await server.db.em.fork().execute('select 1 from users where email = ?', [ann.email])).toEqual([]);
  const mail = await readLastMailTo(server.origin, ann.email);
  expect(mail.subject).toBe('Your account at Mandate');
  expect(mail.html).toContain(extractLink(mail));
  // a second browser without the first browser's cookies
  const other = newBrowser();
  const account = await other.submit(await other.open(extractLink(mail)), ann);
  expect(account.url.pathname).toBe('/account');
  expect(account.text).toContain(ann.email);
  await signIn(server.origin, ann);
});

test('opening the link does not consume it, and it creates one account', async () => {
  const ann = newUserDetails();
  const { browser, page } = await openSignUpLink(ann.email);
  await newBrowser().open(page.url.href); // simulates a mail program that fetches links
  expect((await browser.submit(page, ann)).url.pathname).toBe('/account');
  const reopenedLink = await newBrowser().open(page.url.href);
  expect([reopenedLink.response.status, reopenedLink.text.includes('This link is no longer valid')]).toEqual([400, true]);
});

test('five concurrent uses of a link create one account', async () => {
  const ann = newUserDetails();
  const { browser, page } = await openSignUpLink(ann.email);
  const pages = await Promise.all(Array.from({ length: 5 }, () => browser.submit(page, ann)));
  expect(pages.filter(({ url }) => url.pathname === '/account')).toHaveLength(1);
  expect(await server.db.em.fork().execute('select 1 as one from users where email = ?', [ann.email])).toEqual([{ one: 1 }]);
});

test.each(['', 'x', 'a\0b', 'x'.repeat(5000)])('a link with the invalid token %j is rejected', async (token) => {
  const page = await newBrowser().open(`/sign-up/confirm?token=${encodeURIComponent(token)}`);
  expect([page.response.status, page.text.includes('This link is no longer valid')]).toEqual([400, true]);
});

test('a registered address gets the same response in the same time, and its owner gets a message', async () => {
  const known = await Promise.all(Array.from({ length: 5 }, () => signUp(server.origin)));
  const timeSignUpRequest = async (email: string): Promise<{ text: string; time: number }> => {
    const browser = newBrowser();
    const page = await browser.open('/sign-up');
    const started = performance.now();
    const { text } = await browser.submit(page, { email });
    return { text: text.replaceAll(email, ''), time: performance.now() - started };
  };
  const times = { taken: Infinity, free: Infinity };
  // other load on the machine affects the shortest measurement least
  for (const { email } of [...known, ...known, ...known, ...known]) {
    const [taken, free] = [await timeSignUpRequest(email), await timeSignUpRequest(`${uniqueId()}@example.com`)];
    expect(taken.text).toBe(free.text);
    times.taken = Math.min(times.taken, taken.time);
    times.free = Math.min(times.free, free.time);
  }
  expect(Math.max(times.taken, times.free) / Math.min(times.taken, times.free)).toBeLessThan(2);
  expect((await readLastMailTo(server.origin, known[0]?.email ?? '')).subject).toBe('You already have an account at Mandate');
});

test('an authorization request continues when the link is opened in the same browser', async () => {
  const browser = newBrowser();
  const signInPage = await browser.open(authorizationPath(buildAuthorizationRequest().query));
  const signUpPage = await browser.open(`${signInPage.url.pathname}/sign-up`);
  const consent = await completeSignUp(server.origin, browser, signUpPage, newUserDetails());
  expect(consent.url.pathname).toMatch(/^\/consent\//);
});

test('an account is created when the link is opened in another browser', async () => {
  const browser = newBrowser();
  const signInPage = await browser.open(authorizationPath(buildAuthorizationRequest().query));
  const ann = newUserDetails();
  await browser.submit(await browser.open(`${signInPage.url.pathname}/sign-up`), { email: ann.email });
  const other = newBrowser();
  const account = await other.submit(await other.open(await readMailLink(server.origin, ann.email)), ann);
  expect(account.url.pathname).toBe('/account');
});

describe('the e-mail address', () => {
  test.each(['', 'ann@', 'ann@example.com, eve@example.com', 'ann@example.com\r\nBcc: eve@example.com', '"a b"@example.com'])(
    'is rejected: %j',
    async (email) => {
      const browser = newBrowser();
      const refused = await browser.submit(await browser.open('/sign-up'), { email });
      expect(refused.response.status).toBe(400);
      expect(refused.text).toContain('Enter an e-mail address such as');
      expect(refused.text).toContain('<title>Error: ');
    },
  );

  test('receives at most five messages per hour that one network requests', async () => {
    const { email } = newUserDetails();
    const statuses: number[] = [];
    for (let at = 0; at < 7; at += 1) {
      const browser = newBrowser('198.51.100.60');
      statuses.push((await browser.submit(await browser.open('/sign-up'), { email })).response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(await readMailsTo(server.origin, email)).toHaveLength(5);
  });
});

describe('the sign-up form rejects', () => {
  test.each([
    ['no name', { name: ' ' }, 'Enter your name'],
    ['a short password', { password: 'short' }, 'at least 12 characters'],
    ['a password of 201 characters', { password: 'x'.repeat(201) }, 'at most 200 characters'],
  ])('%s', async (_case, change, text) => {
    const form = { ...newUserDetails(), ...change };
    const { browser, page } = await openSignUpLink(form.email);
    const refused = await browser.submit(page, form);
    expect(refused.response.status).toBe(400);
    expect(refused.text).toContain(text);
    expect(refused.text).toContain('<title>Error: ');
    expect(refused.text).not.toContain(`value="${form.password}"`);
    expect((await browser.submit(refused, newUserDetails())).url.pathname).toBe('/account'); // the link still works
  });

  test('the e-mail address as password', async () => {
    const { email } = newUserDetails();
    const { browser, page } = await openSignUpLink(email);
    const refused = await browser.submit(page, { name: 'Ann', password: email.toUpperCase() });
    expect(refused.text).toContain('not your e-mail address');
  });
});

describe('on a server without e-mail', () => {
  const serverWithoutMail = useServer({ canMail: false });

  test.each(['/sign-up', '/password-reset'])('%s returns 503 and states the reason', async (path) => {
    const browser = new HttpBrowser(serverWithoutMail.origin);
    const page = await browser.submit(await browser.open(path), { email: 'ann@example.com' });
    expect([page.response.status, page.text.includes('We cannot send e-mail')]).toEqual([503, true]);
  });
});
