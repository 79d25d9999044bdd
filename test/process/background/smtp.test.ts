import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, expect, test } from 'vitest';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { openMailServer } from '../../support/services/mail-server.ts';
import { createDatabaseEnvironment } from '../../support/services/database.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

test('a user signs up with a message that the server sends through its mail server', { timeout: 300_000 }, async () => {
  await using mail = await openMailServer();
  await using data = await createDataDirectory();
  const server = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    ...(await createDatabaseEnvironment()),
    MANDATE_SMTP_URL: `smtp://shop:${encodeURIComponent('p@ss word')}@127.0.0.1:${mail.port}`,
    MANDATE_MAIL_FROM: 'Shop <shop@example.com>',
  });
  const browser = new HttpBrowser(server.url);
  const [email, password] = ['ann@example.com', 'correct horse battery'];
  const signUpPage = await browser.submit(await browser.open('/sign-up'), { email });
  expect(signUpPage.text).toContain('Check your e-mail');
  await expect.poll(() => mail.received.length, { timeout: 20_000 }).toBe(1);

  const [message] = mail.received;
  expect([message?.user, message?.to]).toEqual(['shop', [email]]);
  const { from, subject, text = '', html = '' } = await PostalMime.parse(message?.raw ?? '');
  expect([from?.address, from?.name, subject]).toEqual(['shop@example.com', 'Larkspur', 'Your account at Larkspur']);
  const link = /https?:\S+/.exec(text)?.[0] ?? '';
  expect(new URL(link).origin).toBe(server.url);
  expect(html.replaceAll('&amp;', '&')).toContain(link);

  const account = await browser.submit(await browser.open(link), { name: 'Ann', password });
  expect(account.url.pathname).toBe('/account');
  expect(mail.received).toHaveLength(1);
  expect(server.output()).not.toMatch(/p@ss word|p%40ss|a message that would be sent|ann@example/);
  await server.stop();
});

test('SIGHUP reloads the SMTP password from its file, and an invalid file changes nothing', { timeout: 240_000 }, async () => {
  await using mail = await openMailServer();
  await using data = await createDataDirectory();
  const file = join(data.path, 'smtp-url');
  const put = (password: string): Promise<void> => writeFile(file, `smtp://shop:${encodeURIComponent(password)}@127.0.0.1:${mail.port}\n`);
  await put(mail.password);
  const server = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    ...(await createDatabaseEnvironment()),
    MANDATE_SMTP_URL_FILE: file,
    MANDATE_MAIL_FROM: 'shop@example.com',
  });
  const browser = new HttpBrowser(server.url);
  const signUpAndExpectMail = async (email: string, count: number): Promise<void> => {
    await browser.submit(await browser.open('/sign-up'), { email });
    await expect.poll(() => mail.received.length, { timeout: 60_000 }).toBe(count);
  };
  await signUpAndExpectMail('ann@example.com', 1);

  await writeFile(file, 'hunter2');
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(() => server.output(), { timeout: 20_000 }).toContain('secrets were not reloaded');
  expect(server.output()).not.toContain('hunter2');
  await signUpAndExpectMail('ben@example.com', 2);

  mail.password = 'changed p@ssword';
  await put(mail.password);
  process.kill(server.pid, 'SIGHUP');
  await signUpAndExpectMail('cleo@example.com', 3);
  expect(server.output()).not.toContain('changed');
  expect(await server.stop()).toBe(0);
});
