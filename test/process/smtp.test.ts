import PostalMime from 'postal-mime';
import { afterEach, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { openMailServer } from '../support/mail-server.ts';
import { endServerProcesses, startServer, temporaryDataDirectory } from '../support/server-process.ts';

afterEach(endServerProcesses);

test('a person signs up by a message that the server sends through its mail server', { timeout: 120_000 }, async () => {
  await using mail = await openMailServer();
  await using data = await temporaryDataDirectory();
  const server = await startServer({
    MANDATE_DATA_DIR: data.path,
    MANDATE_SMTP_URL: mail.url,
    MANDATE_MAIL_FROM: 'Shop <shop@example.com>',
  });
  const browser = new Browser(server.url);
  const [email, password] = ['ann@example.com', 'correct horse battery'];
  const asked = await browser.submit(await browser.open('/sign-up'), { email });
  expect(asked.text).toContain('Check your e-mail');
  await expect.poll(() => mail.received.length, { timeout: 20_000 }).toBe(1);

  const [message] = mail.received;
  expect([message?.user, message?.to]).toEqual(['shop', [email]]);
  const { from, subject, text = '', html = '' } = await PostalMime.parse(message?.raw ?? '');
  expect([from?.address, subject]).toEqual(['shop@example.com', 'Your account at Mandate']);
  const link = /https?:\S+/.exec(text)?.[0] ?? '';
  expect(new URL(link).origin).toBe(server.url);
  expect(html.replaceAll('&amp;', '&')).toContain(link);

  const account = await browser.submit(await browser.open(link), { name: 'Ann', password });
  expect([account.url.pathname, account.text.includes('You are signed in')]).toEqual(['/account', true]);
  expect(mail.received).toHaveLength(1);
  expect(server.output()).not.toMatch(/p@ss word|p%40ss|a message that would be sent|ann@example/);
  await server.stop();
});
