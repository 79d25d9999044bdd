import type { HttpBrowser } from '../browser/browser.ts';

/** Opens the authorization URL, submits the consent page if the server shows it, and returns the callback URL. */
export async function completeAuthorization(
  { browser }: { readonly browser: HttpBrowser },
  authorizationUrl: URL | string,
  consentForm: Readonly<Record<string, string>> = {},
): Promise<URL> {
  let page = await browser.open(String(authorizationUrl));
  if (page.url.pathname.startsWith('/consent/')) page = await browser.submit(page, { decision: 'allow', ...consentForm });
  if (!page.externalRedirect) throw new Error(`the browser stopped at ${page.url.href} with ${page.response.status}: ${page.text}`);
  return page.externalRedirect;
}
