import { randomUUID } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ConfidentialClientApplication, CryptoProvider, ProtocolMode, PublicClientApplication } from '@azure/msal-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApplication } from '../../server/applications/create-application.ts';
import { buildFormRequest } from '../support/browser/browser.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { signUp } from '../support/oauth/oauth-flow.ts';
import { createSelfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { fetchApiStatus, useServer } from '../support/server/use-server.ts';
import { expectSignOut } from './client-program.ts';
import { registerWebClient } from './web-client.ts';

/** MSAL accepts only an authority with https. */
const { cert, key } = createSelfSignedCertificate();
const server = useServer({ http: { tls: { cert: Buffer.from(cert), key: Buffer.from(key) } } });
const trusted = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...trusted, cert]));
afterAll(() => setDefaultCACertificates(trusted));

const redirectUri = 'https://app.example/callback';
const signedOutUri = 'https://app.example/signed-out';
/** MSAL adds `openid`, `profile` and `offline_access`. */
const scopes = ['email', 'users.read'];

/** Configures MSAL for a server that is not Microsoft's. */
const createConfiguration = (clientId: string, clientSecret?: string) => ({
  auth: {
    clientId,
    authority: server.origin,
    knownAuthorities: [new URL(server.origin).host],
    ...(clientSecret !== undefined && { clientSecret }),
  },
  system: { protocolMode: ProtocolMode.OIDC },
});

test('MSAL signs a user in to a web application, refreshes the tokens and signs the user out', async () => {
  const user = await signUp(server.origin);
  const { clientId, secret } = await registerWebClient(server, { redirectUri, signedOutUri });
  const msal = new ConfidentialClientApplication(createConfiguration(clientId, secret));
  const [{ verifier, challenge }, state, nonce] = [await new CryptoProvider().generatePkceCodes(), randomUUID(), randomUUID()];
  const pkce = { codeChallenge: challenge, codeChallengeMethod: 'S256' };
  const callback = await completeAuthorization(user, await msal.getAuthCodeUrl({ scopes, redirectUri, state, nonce, ...pkce }));
  const code = callback.searchParams.get('code') ?? '';
  const payload = { code, state: callback.searchParams.get('state') ?? '' };
  const tokens = await msal.acquireTokenByCode({ scopes, redirectUri, state, nonce, code, codeVerifier: verifier }, payload);
  const claims = { sub: String(user.id), email: user.email, email_verified: true };
  expect(tokens.idTokenClaims).toMatchObject(claims);
  expect(tokens.scopes.toSorted()).toEqual(['email', 'offline_access', 'openid', 'profile', 'users.read']);
  const headers = { authorization: `Bearer ${tokens.accessToken}` };
  expect(await (await fetch(`${server.origin}/oauth/userinfo`, { headers })).json()).toMatchObject(claims);

  const { account } = tokens;
  if (!account) throw new Error('MSAL has no account');
  expect((await msal.acquireTokenSilent({ account, scopes })).fromCache).toBe(true);
  const refreshed = await msal.acquireTokenSilent({ account, scopes, forceRefresh: true });
  expect([refreshed.fromCache, refreshed.accessToken === tokens.accessToken]).toEqual([false, false]);
  expect(await fetchApiStatus(server, refreshed.accessToken)).toBe(200);

  await msal.getTokenCache().removeAccount(account);
  await expect(msal.acquireTokenSilent({ account, scopes })).rejects.toMatchObject({ errorCode: 'no_tokens_found' });
  const signOut = new URLSearchParams({ id_token_hint: refreshed.idToken, post_logout_redirect_uri: signedOutUri });
  expect(await expectSignOut(user, `/oauth/logout?${signOut.toString()}`)).toBe(signedOutUri);
});

test('MSAL signs a user in to a desktop application, which listens on any port, and refreshes the tokens', async () => {
  const user = await signUp(server.origin);
  const clientId = `client-${randomUUID()}`;
  await createApplication(server.db.em.fork(), {
    clientId,
    name: 'Desktop application',
    type: 'public',
    redirectUris: ['http://localhost'],
    scopes: ['users.read'],
    grantTypes: ['authorization_code', 'refresh_token'],
  });
  const msal = new PublicClientApplication(createConfiguration(clientId));
  const openBrowser = async (url: string): Promise<void> => {
    const page = await user.browser.submit(await user.browser.open(url), { decision: 'allow' });
    const [, loopbackUrl = ''] = /<form method="post" action="([^"]+)"/.exec(page.text) ?? []; // response_mode=form_post
    await fetch(loopbackUrl, buildFormRequest(page, {}));
  };
  const { account, accessToken } = await msal.acquireTokenInteractive({ scopes, openBrowser });
  if (!account) throw new Error('MSAL has no account');
  expect(account.idTokenClaims).toMatchObject({ sub: String(user.id), email: user.email });
  const refreshed = await msal.acquireTokenSilent({ account, scopes, forceRefresh: true });
  expect(refreshed.accessToken).not.toBe(accessToken);
  expect(await fetchApiStatus(server, refreshed.accessToken)).toBe(200);
});
