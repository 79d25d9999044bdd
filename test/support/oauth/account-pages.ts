import type { HttpBrowser, HtmlPage } from '../browser/browser.ts';
import { signIn, obtainTokens, type TestUser, type TokenResponse } from './oauth-flow.ts';

/** Creates a second browser session and new application tokens for a user, for revocation tests. */
export async function createOtherSession(origin: string, person: TestUser): Promise<{ tokens: TokenResponse; browser: HttpBrowser }> {
  return { tokens: await obtainTokens(origin, person, ['users.read']), browser: await signIn(origin, person) };
}

export const hasActiveSession = async (browser: HttpBrowser): Promise<boolean> =>
  (await browser.open('/account')).url.pathname === '/account';

/** Submits the form whose HTML contains the text `mark`, for pages with several forms. */
export async function submitFormContaining(
  browser: HttpBrowser,
  page: HtmlPage,
  mark: string,
  fields: Record<string, string> = {},
): Promise<HtmlPage> {
  const form = [...page.text.matchAll(/<form[^]*?<\/form>/g)].map(([text]) => text).find((text) => text.includes(mark));
  if (form === undefined) throw new Error(`no form with ${mark}`);
  const action = /<form[^>]*action="([^"]*)"/.exec(form)?.[1] ?? page.url.href;
  return browser.submit({ ...page, url: new URL(action, page.url), text: form }, fields);
}
