import type { Browser, Page } from '../browser/browser.ts';
import { signIn, tokensFor, type Person, type TokenResponse } from './oauth-flow.ts';

/** Another browser and another application of somebody's, to see whether they come to their end. */
export async function signInElsewhere(origin: string, person: Person): Promise<{ tokens: TokenResponse; browser: Browser }> {
  return { tokens: await tokensFor(origin, person, ['users.read']), browser: await signIn(origin, person) };
}

export const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.open('/account')).url.pathname === '/account';

/** Sends the form of the page that has a field with this value: a page may have several. */
export async function submitForm(browser: Browser, page: Page, mark: string, fields: Record<string, string> = {}): Promise<Page> {
  const form = [...page.text.matchAll(/<form[^]*?<\/form>/g)].map(([text]) => text).find((text) => text.includes(mark));
  if (form === undefined) throw new Error(`no form with ${mark}`);
  const action = /<form[^>]*action="([^"]*)"/.exec(form)?.[1] ?? page.url.href;
  return browser.submit({ ...page, url: new URL(action, page.url), text: form }, fields);
}
