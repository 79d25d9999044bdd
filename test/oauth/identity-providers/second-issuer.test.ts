import { expect, test } from 'vitest';
import { LinkedAccount } from '../../../server/oauth/linked-accounts/linked-account.entity.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { insertIdentityProvider } from '../../support/identity-providers/fake-identity-provider.ts';
import { startSecondIssuer } from '../../support/identity-providers/second-issuer.ts';
import { obtainTokens, readOAuthError, sendRefreshRequest, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';
import { pressProviderButton } from './provider-sign-in.ts';

const server = useServer({ development: true });
const slug = 'second';

test('a provider with DPoP, nonces and pushed requests signs users in, and ends their access with their account', async () => {
  const account = { sub: 'paula', name: 'Paula Provider', email: 'paula@example.com' };
  await using issuer = await startSecondIssuer(`${server.origin}/sign-in/providers/${slug}/callback`, account);
  const scopes = ['openid', 'email', 'profile', 'offline_access'];
  await insertIdentityProvider(server.db, issuer, { slug, name: 'Second issuer', scopes });
  const [browser, providerBrowser] = [new HttpBrowser(server.origin), new HttpBrowser(issuer.issuer)];
  const request = await pressProviderButton(browser, slug);
  expect(request.searchParams.has('request_uri')).toBe(true);
  const { externalRedirect } = await providerBrowser.submit(await providerBrowser.open(request.href), {});
  const page = await browser.open(externalRedirect?.href ?? '');
  expect([page.url.pathname, page.text.includes(account.email)]).toEqual(['/account', true]);
  // each first request is repeated with the nonce
  expect(issuer.pathsWithDpopProof).toEqual(['/request', '/request', '/token', '/me']);

  const { refresh_token: first = '' } = await obtainTokens(server.origin, { browser }, ['users.read']);
  const makeCheckDue = () => server.db.em.fork().nativeUpdate(LinkedAccount, { subject: account.sub }, { checkDueAt: new Date(0) });
  await makeCheckDue();
  const refreshed = await sendRefreshRequest(server.origin, first);
  expect([refreshed.status, issuer.pathsWithDpopProof.slice(4)]).toEqual([200, ['/token']]);
  const { refresh_token: second = '' } = tokenResponseSchema.parse(await refreshed.json());
  issuer.endAccount();
  await makeCheckDue();
  expect(await readOAuthError(await sendRefreshRequest(server.origin, second))).toBe('400 invalid_grant');
});
