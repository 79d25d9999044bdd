import { randomUUID } from 'node:crypto';
import { Auth, type AuthConfig } from '@auth/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { HttpBrowser } from '../support/browser/browser.ts';
import { submitFormContaining } from '../support/oauth/account-pages.ts';
import { basicAuthorization, sendTokenRequest, tokenResponseSchema, type ClientCredentials } from '../support/oauth/oauth-flow.ts';
import { useServer } from '../support/server/use-server.ts';
import { expectCompleteSession, recordRequests, registerWebClient, requestedScope, type WebClient } from './web-client.ts';

const { requests, onLogLine } = recordRequests();
const server = useServer({ onLogLine });
/** No server listens here: the browser's requests are passed to Auth.js directly. */
const origin = 'http://localhost:3999';
const signedOutUri = `${origin}/signed-out`;

const sessionSchema = z.object({
  sub: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  accessToken: z.string(),
  idToken: z.string(),
});

/** Configures Auth.js as its guides do for tokens that an application needs: the callback `jwt` keeps and refreshes them. */
const createConfiguration = ({ clientId, secret }: ClientCredentials): AuthConfig => ({
  basePath: '/auth',
  trustHost: true,
  secret: randomUUID(),
  providers: [
    {
      id: 'mandate',
      name: 'Mandate',
      type: 'oidc',
      issuer: server.origin,
      clientId,
      clientSecret: secret,
      authorization: { params: { scope: requestedScope } },
      checks: ['pkce', 'state', 'nonce'],
      idToken: false, // Auth.js then reads the profile from userinfo
    },
  ],
  callbacks: {
    jwt: async ({ token, account, profile, trigger }) => {
      if (account) {
        const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken } = account;
        return { sub: profile?.sub ?? '', email: profile?.email, emailVerified: profile?.email_verified, accessToken, refreshToken, idToken };
      }
      if (trigger !== 'update') return token;
      const form = { grant_type: 'refresh_token', refresh_token: String(token['refreshToken']) };
      const response = await sendTokenRequest(server.origin, form, basicAuthorization(clientId, secret));
      const tokens = tokenResponseSchema.parse(await response.json());
      return { ...token, accessToken: tokens.access_token, refreshToken: tokens.refresh_token, idToken: tokens.id_token };
    },
    session: ({ session, token }) => ({ ...session, ...token }),
    redirect: ({ url }) => url, // allows the end session endpoint
  },
});

function createAuthJsClient(credentials: ClientCredentials): WebClient {
  const configuration = createConfiguration(credentials);
  const readSession = async (browser: HttpBrowser) =>
    sessionSchema.nullable().parse(await (await browser.request('/auth/session', { headers: { accept: 'application/json' } })).json());
  const readCsrfToken = async (browser: HttpBrowser): Promise<string> =>
    z.object({ csrfToken: z.string() }).parse(await (await browser.request('/auth/csrf')).json()).csrfToken;
  return {
    origin,
    send: async (url, init) => (url.pathname.startsWith('/auth/') ? Auth(new Request(url, init), configuration) : new Response('welcome')),
    startSignIn: async (browser) => submitFormContaining(browser, await browser.open('/auth/signin'), '/auth/signin/mandate'),
    async readSession(browser) {
      const session = await readSession(browser);
      if (!session) return undefined;
      const { sub, email, emailVerified, accessToken } = session;
      return { sub, email, emailVerified, accessToken };
    },
    async refresh(browser) {
      const body = JSON.stringify({ csrfToken: await readCsrfToken(browser), data: {} });
      return browser.request('/auth/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    },
    async signOut(browser) {
      const { idToken = '' } = (await readSession(browser)) ?? {};
      const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: signedOutUri });
      const callbackUrl = `${server.origin}/oauth/logout?${query.toString()}`;
      const body = new URLSearchParams({ csrfToken: await readCsrfToken(browser), callbackUrl });
      return browser.open('/auth/signout', { method: 'POST', body });
    },
  };
}

test('Auth.js signs a user in, reads userinfo, refreshes the tokens and signs the user out', async () => {
  const credentials = await registerWebClient(server, { redirectUri: `${origin}/auth/callback/mandate`, signedOutUri });
  await expectCompleteSession(server, createAuthJsClient(credentials), { signedOutUri });
  expect(requests).toContain('200 /oauth/userinfo');
});
