import { describe, expect, test } from 'vitest';
import { Browser } from '../../support/browser/browser.ts';
import { followMailTo, lastMailTo, linkIn, mailsTo } from '../../support/services/mailbox.ts';
import { authorizationRequest, authorizePath, completeSignUp, signIn, signUp } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/with-server.ts';

const server = useServer();
const newBrowser = (address?: string) => new Browser(server.origin, address);
const unique = (): string => crypto.randomUUID();
const somebody = () => ({ name: 'Ann', email: `ann.${unique()}@example.com`, password: 'correct horse battery' });

async function openLink(email: string): Promise<{ browser: Browser; page: Awaited<ReturnType<Browser['open']>> }> {
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-up'), { email });
  return { browser, page: await browser.open(await followMailTo(server.origin, email)) };
}

test('an account begins with the address, and only who reads its messages chooses name and password', async () => {
  const ann = somebody();
  const browser = newBrowser();
  const asked = await browser.submit(await browser.open('/sign-up'), { email: ann.email });
  expect(asked.text).toContain('Check your e-mail');
  expect(await server.db.em.fork().execute('select 1 from users where email = ?', [ann.email])).toEqual([]);
  const mail = await lastMailTo(server.origin, ann.email);
  expect(mail.subject).toBe('Your account at Mandate');
  expect(mail.html).toContain(linkIn(mail));
  // another browser, as on a telephone
  const other = newBrowser();
  const account = await other.submit(await other.open(linkIn(mail)), ann);
  expect(account.url.pathname).toBe('/account');
  expect(account.text).toContain(ann.email);
  await signIn(server.origin, ann);
});

test('looking at the link does not use it up, and it is good for one account', async () => {
  const ann = somebody();
  const { browser, page } = await openLink(ann.email);
  await newBrowser().open(page.url.href); // a mail program that looks at links
  expect((await browser.submit(page, ann)).url.pathname).toBe('/account');
  const again = await newBrowser().open(page.url.href);
  expect([again.response.status, again.text.includes('This link is no longer valid')]).toEqual([400, true]);
});

test('of five who use one link at once, one gets an account', async () => {
  const ann = somebody();
  const { browser, page } = await openLink(ann.email);
  const answers = await Promise.all(Array.from({ length: 5 }, () => browser.submit(page, ann)));
  expect(answers.filter(({ url }) => url.pathname === '/account')).toHaveLength(1);
  expect(await server.db.em.fork().execute('select 1 as one from users where email = ?', [ann.email])).toEqual([{ one: 1 }]);
});

test.each(['', 'x', 'a\0b', 'x'.repeat(5000)])('a link that was never sent is over', async (token) => {
  const page = await newBrowser().open(`/sign-up/confirm?token=${encodeURIComponent(token)}`);
  expect([page.response.status, page.text.includes('This link is no longer valid')]).toEqual([400, true]);
});

test('an address that is taken gets the same answer in body and time, and its owner a message', async () => {
  const known = await Promise.all(Array.from({ length: 5 }, () => signUp(server.origin)));
  const ask = async (email: string): Promise<{ text: string; time: number }> => {
    const browser = newBrowser();
    const page = await browser.open('/sign-up');
    const begun = performance.now();
    const { text } = await browser.submit(page, { email });
    return { text: text.replaceAll(email, ''), time: performance.now() - begun };
  };
  const times = { taken: Infinity, free: Infinity };
  // the shortest of many is the least disturbed by whatever else the machine does
  for (const { email } of [...known, ...known, ...known, ...known]) {
    const [taken, free] = [await ask(email), await ask(`${unique()}@example.com`)];
    expect(taken.text).toBe(free.text);
    times.taken = Math.min(times.taken, taken.time);
    times.free = Math.min(times.free, free.time);
  }
  expect(Math.max(times.taken, times.free) / Math.min(times.taken, times.free)).toBeLessThan(2);
  expect((await lastMailTo(server.origin, known[0]?.email ?? '')).subject).toBe('You have an account at Mandate already');
});

test('the application that sent the person here gets its answer, when the link is opened in the same browser', async () => {
  const browser = newBrowser();
  const signInPage = await browser.open(authorizePath(authorizationRequest().query));
  const signUpPage = await browser.open(`${signInPage.url.pathname}/sign-up`);
  const consent = await completeSignUp(server.origin, browser, signUpPage, somebody());
  expect(consent.url.pathname).toMatch(/^\/consent\//);
});

test('in another browser the account is opened all the same', async () => {
  const browser = newBrowser();
  const signInPage = await browser.open(authorizePath(authorizationRequest().query));
  const ann = somebody();
  await browser.submit(await browser.open(`${signInPage.url.pathname}/sign-up`), { email: ann.email });
  const other = newBrowser();
  const account = await other.submit(await other.open(await followMailTo(server.origin, ann.email)), ann);
  expect(account.url.pathname).toBe('/account');
});

describe('the address', () => {
  test.each(['', 'ann@', 'ann@example.com, eve@example.com', 'ann@example.com\r\nBcc: eve@example.com', '"a b"@example.com'])(
    'is not accepted: %j',
    async (email) => {
      const browser = newBrowser();
      const refused = await browser.submit(await browser.open('/sign-up'), { email });
      expect(refused.response.status).toBe(400);
      expect(refused.text).toContain('Enter an e-mail address such as');
      expect(refused.text).toContain('<title>Error: ');
    },
  );

  test('gets no more than five messages an hour at the request of one network', async () => {
    const { email } = somebody();
    const statuses: number[] = [];
    for (let at = 0; at < 7; at += 1) {
      const browser = newBrowser('198.51.100.60');
      statuses.push((await browser.submit(await browser.open('/sign-up'), { email })).response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(await mailsTo(server.origin, email)).toHaveLength(5);
  });
});

describe('name and password', () => {
  test.each([
    ['no name', { name: ' ' }, 'Enter your name'],
    ['a short password', { password: 'short' }, 'at least 12 characters'],
    ['a password without end', { password: 'x'.repeat(201) }, 'at most 200 characters'],
  ])('%s', async (_what, given, text) => {
    const form = { ...somebody(), ...given };
    const { browser, page } = await openLink(form.email);
    const refused = await browser.submit(page, form);
    expect(refused.response.status).toBe(400);
    expect(refused.text).toContain(text);
    expect(refused.text).toContain('<title>Error: ');
    expect(refused.text).not.toContain(`value="${form.password}"`);
    expect((await browser.submit(refused, somebody())).url.pathname).toBe('/account'); // the link still works
  });

  test('the address as the password', async () => {
    const { email } = somebody();
    const { browser, page } = await openLink(email);
    const refused = await browser.submit(page, { name: 'Ann', password: email.toUpperCase() });
    expect(refused.text).toContain('not your e-mail address');
  });
});

describe('without a way to send e-mail', () => {
  const silent = useServer({ canMail: false });

  test.each(['/sign-up', '/password-reset'])('%s says that it cannot be done now', async (path) => {
    const browser = new Browser(silent.origin);
    const page = await browser.submit(await browser.open(path), { email: 'ann@example.com' });
    expect([page.response.status, page.text.includes('we cannot send e-mail')]).toEqual([503, true]);
  });
});
