import type { HtmlPage, HttpBrowser } from '../../support/browser/browser.ts';
import type { FakeClaims, FakeIdentityProvider } from '../../support/identity-providers/fake-identity-provider.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';

/** Returns the authorization request to which a page sends the browser. */
export function readAuthorizationRequest(page: HtmlPage): URL {
  const [, url = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(page.text) ?? [];
  if (url === '') throw new Error(`${page.url.pathname} ${page.response.status} does not redirect to a provider: ${page.text}`);
  return new URL(url.replaceAll('&amp;', '&'));
}

/** Presses a provider's button on the sign-in page. Returns the authorization request. */
export const pressProviderButton = async (browser: HttpBrowser, slug: string, signInPage?: HtmlPage): Promise<URL> =>
  readAuthorizationRequest(await submitFormContaining(browser, signInPage ?? (await browser.open('/sign-in')), `providers/${slug}/start`));

/** Signs in through a provider. Returns the last page. */
export async function signInThroughProvider(
  browser: HttpBrowser,
  provider: FakeIdentityProvider,
  slug: string,
  claims: FakeClaims,
): Promise<HtmlPage> {
  return browser.open(provider.authorize(await pressProviderButton(browser, slug), claims).href);
}
