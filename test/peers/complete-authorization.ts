import type { HttpBrowser } from '../support/browser/browser.ts';

/** Opens the authorization URL, allows the application, and returns the callback URL. */
export async function completeAuthorization({ browser }: { readonly browser: HttpBrowser }, authorizationUrl: URL | string): Promise<URL> {
  let page = await browser.open(String(authorizationUrl));
  if (page.url.pathname.startsWith('/consent/')) page = await browser.submit(page, { decision: 'allow' });
  if (!page.externalRedirect) throw new Error(`the browser stopped at ${page.url.href} with ${page.response.status}: ${page.text}`);
  return page.externalRedirect;
}
