import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
import { Browser, type Page } from '../browser/browser.ts';
import type { Person } from './oauth-flow.ts';
import type { RunningServer } from '../server/with-server.ts';

export type Credentials = Pick<Person, 'email' | 'password'>;

export async function submitPassword(at: RunningServer, { email, password }: Credentials, browser = new Browser(at.origin)): Promise<Page> {
  return browser.submit(await browser.open('/sign-in'), { email, password });
}

export const wrong = (email: string): Credentials => ({ email, password: `wrong ${randomInt(1e9)}` });

/** Submits wrong passwords from as many networks as needed, ten from each. */
export async function guess(at: RunningServer, email: string, times: number): Promise<void> {
  for (let done = 0; done < times; done += 10) {
    const browser = new Browser(at.origin);
    const page = await browser.open('/sign-in');
    for (let each = done; each < Math.min(times, done + 10); each += 1) {
      expect((await browser.submit(page, wrong(email))).response.status).toBe(400);
    }
  }
}

/** As many failures from other networks, without the time that they take. */
export async function setCeiling(at: RunningServer, kind: 'password' | 'secondFactor', points: number): Promise<void> {
  const em = at.db.em.fork();
  await em.execute(`update attempts set points = ? where key like '${kind}.ceiling:%'`, [points]);
}

export const isSignedIn = ({ url, response }: Page): boolean => url.pathname === '/account' && response.status === 200;
export const asksForEmailCode = ({ text }: Page): boolean => text.includes('Code from the e-mail');

/** Submits the form whose action ends in a name: a page has several. */
export function submitForm(browser: Browser, page: Page, name: string, fields: Record<string, string>): Promise<Page> {
  const action = new RegExp(`<form[^>]*action="([^"]*/${name})"`).exec(page.text)?.[1] ?? '';
  return browser.submit({ ...page, url: new URL(action, page.url) }, fields);
}

export const codeIn = (text: string): string => / to Mandate: ([a-z0-9]{5}-[a-z0-9]{5})\./.exec(text)?.[1] ?? 'no code';
