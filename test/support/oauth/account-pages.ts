import type { Browser, Page } from '../browser/browser.ts';
import { signIn, tokensFor, type Person, type TokenResponse } from './oauth-flow.ts';

/** Creates a second browser session and new application tokens for a user, for tests of revocation. */
export async function signInElsewhere(origin: string, person: Person): Promise<{ tokens: TokenResponse; browser: Browser }> {
  return { tokens: await tokensFor(origin, person, ['users.read']), browser: await signIn(origin, person) };
}

export const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.open('/account')).url.pathname === '/account';

/** Submits the form whose HTML contains the text `mark`, on pages with several forms. */
export async function submitForm(browser: Browser, page: Page, mark: string, fields: Record<string, string> = {}): Promise<Page> {
  const form = [...page.text.matchAll(/<form[^]*?<\/form>/g)].map(([text]) => text).find((text) => text.includes(mark));
  if (form === undefined) throw new Error(`no form with ${mark}`);
  const action = /<form[^>]*action="([^"]*)"/.exec(form)?.[1] ?? page.url.href;
  return browser.submit({ ...page, url: new URL(action, page.url), text: form }, fields);
}
