import type { Browser } from '../support/browser/browser.ts';

/** What a person's browser does with the address that an application sends it to; gives the address it ends at, at the application. */
export async function followThrough({ browser }: { readonly browser: Browser }, authorizationUrl: URL | string): Promise<URL> {
  let page = await browser.open(String(authorizationUrl));
  if (page.url.pathname.startsWith('/consent/')) page = await browser.submit(page, { decision: 'allow' });
  if (!page.leaves) throw new Error(`the browser ended at ${page.url.href} with ${page.response.status}: ${page.text}`);
  return page.leaves;
}
