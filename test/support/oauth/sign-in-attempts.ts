import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
import { HttpBrowser, type HtmlPage } from '../browser/browser.ts';
import type { TestUser } from './oauth-flow.ts';
import type { RunningServer } from '../server/use-server.ts';

export type PasswordCredentials = Pick<TestUser, 'email' | 'password'>;

export async function submitPassword(
  server: RunningServer,
  { email, password }: PasswordCredentials,
  browser = new HttpBrowser(server.origin),
): Promise<HtmlPage> {
  return browser.submit(await browser.open('/sign-in'), { email, password });
}

export const wrongCredentials = (email: string): PasswordCredentials => ({ email, password: `wrong ${randomInt(1e9)}` });

/** Submits wrong passwords, ten from each IP address. */
export async function submitWrongPasswords(server: RunningServer, email: string, times: number): Promise<void> {
  for (let submitted = 0; submitted < times; submitted += 10) {
    const browser = new HttpBrowser(server.origin);
    const page = await browser.open('/sign-in');
    for (let attempt = submitted; attempt < Math.min(times, submitted + 10); attempt += 1) {
      expect((await browser.submit(page, wrongCredentials(email))).response.status).toBe(400);
    }
  }
}

/** Sets the stored counts of failed attempts from all networks, without submitting wrong credentials. */
export async function setAttemptCount(server: RunningServer, kind: 'password' | 'secondFactor', points: number): Promise<void> {
  const em = server.db.em.fork();
  await em.execute(`update attempts set points = ? where key like '${kind}.ceiling:%'`, [points]);
}

export const isAccountPage = ({ url, response }: HtmlPage): boolean => url.pathname === '/account' && response.status === 200;
export const requestsEmailCode = ({ text }: HtmlPage): boolean => text.includes('Code from the e-mail');

/** Submits the form whose action URL ends in `name`, for pages with several forms. */
export function submitFormByAction(browser: HttpBrowser, page: HtmlPage, name: string, fields: Record<string, string>): Promise<HtmlPage> {
  const action = new RegExp(`<form[^>]*action="([^"]*/${name})"`).exec(page.text)?.[1] ?? '';
  return browser.submit({ ...page, url: new URL(action, page.url) }, fields);
}

export const extractEmailCode = (text: string): string => /^([a-z0-9]{5}-[a-z0-9]{5})$/m.exec(text)?.[1] ?? 'no code';
