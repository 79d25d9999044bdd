import { expect, test } from 'vitest';
import { LinkedAccount } from '../../../server/oauth/linked-accounts/linked-account.entity.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import { insertIdentityProvider } from '../../support/identity-providers/fake-identity-provider.ts';
import { startSecondIssuer, type SecondIssuer } from '../../support/identity-providers/second-issuer.ts';
import { hasActiveSession, submitFormContaining } from '../../support/oauth/account-pages.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { readLastMailTo, readMailLink } from '../../support/services/mailbox.ts';
import { useServer } from '../../support/server/use-server.ts';
import { connectCommandLineClient } from './connected-applications.ts';
import { pressProviderButton } from './provider-sign-in.ts';

const server = useServer({ development: true });

/** Starts the issuer, and adds it to the shop's providers. */
async function addSecondIssuer(slug: string, account: { readonly sub: string; readonly email: string }): Promise<SecondIssuer> {
  const issuer = await startSecondIssuer(`${server.origin}/sign-in/providers/${slug}/callback`, { name: 'Paula Provider', ...account });
  const scopes = ['openid', 'email', 'profile', 'offline_access'];
  await insertIdentityProvider(server.db, issuer, { slug, name: 'Second issuer', scopes });
  return issuer;
}

/** Signs in at the issuer in `providerBrowser`. Returns the shop's page to which the issuer redirects the browser. */
async function signInAtIssuer(
  browser: HttpBrowser,
  slug: string,
  { issuer }: SecondIssuer,
  providerBrowser = new HttpBrowser(issuer),
): Promise<HtmlPage> {
  const request = await pressProviderButton(browser, slug);
  expect(request.searchParams.has('request_uri')).toBe(true);
  const { externalRedirect } = await providerBrowser.submit(await providerBrowser.open(request.href), {});
  return browser.open(externalRedirect?.href ?? '');
}

const makeCheckDue = ({ sub }: { readonly sub: string }): Promise<number> =>
  server.db.em.fork().nativeUpdate(LinkedAccount, { subject: sub }, { checkDueAt: new Date(0) });

test('a provider with DPoP, nonces and pushed requests signs users in, and ends their access with their account', async () => {
  const account = { sub: 'paula', email: 'paula@example.com' };
  await using issuer = await addSecondIssuer('second', account);
  const browser = new HttpBrowser(server.origin);
  const page = await signInAtIssuer(browser, 'second', issuer);
  expect([page.url.pathname, page.text.includes(account.email)]).toEqual(['/account', true]);
  // the client repeats only its first request, with the nonce
  expect(issuer.pathsWithDpopProof).toEqual(['/request', '/request', '/token', '/me']);

  const application = await connectCommandLineClient(server, { browser });
  await makeCheckDue(account);
  expect([await application.refresh(), issuer.pathsWithDpopProof.slice(4)]).toEqual(['200', ['/token']]);
  issuer.endAccount();
  await makeCheckDue(account);
  expect(await application.refresh()).toBe('400 invalid_grant');
});

test('an account that was linked with a mailed link is checked with the refresh token of the sign-in before the link', async () => {
  const anna = await signUp(server.origin);
  const account = { sub: 'anna-at-issuer', email: anna.email };
  await using issuer = await addSecondIssuer('mailed', account);
  const browser = new HttpBrowser(server.origin);
  await submitFormContaining(browser, await signInAtIssuer(browser, 'mailed', issuer), 'providers/mailed/link');
  const linked = await browser.submit(await browser.open(await readMailLink(server.origin, anna.email)), {});
  expect([linked.response.status, (await readLastMailTo(server.origin, anna.email)).subject]).toEqual([200, expect.any(String)]);
  const { sealedRefreshToken, checkDueAt } = await server.db.em.fork().findOneOrFail(LinkedAccount, { subject: account.sub });
  expect([sealedRefreshToken, checkDueAt]).toEqual([expect.stringMatching(/^[\w-]{40,}$/), expect.any(Date)]);

  // the later sign-in returns no refresh token
  const providerBrowser = new HttpBrowser(issuer.issuer);
  expect((await signInAtIssuer(browser, 'mailed', issuer, providerBrowser)).url.pathname).toBe('/account');
  const application = await connectCommandLineClient(server, { browser });
  await makeCheckDue(account);
  expect(await application.refresh()).toBe('200');
  await submitFormContaining(providerBrowser, await providerBrowser.open('/session/end'), 'op.logoutForm', { logout: 'yes' });
  expect([await hasActiveSession(browser), await hasActiveSession(anna.browser)]).toEqual([false, false]);

  await signInAtIssuer(browser, 'mailed', issuer);
  issuer.endAccount();
  await makeCheckDue(account);
  expect([await application.refresh(), await hasActiveSession(browser)]).toEqual(['400 invalid_grant', false]);
});
