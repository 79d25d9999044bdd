/** Tests Auth.js in a separate project, because the types of Auth.js require the DOM library. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { createEmptyProject } from '../../package/pack-and-install.ts';
import type { HttpBrowser } from '../../support/browser/browser.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { basicAuthorization, sendTokenRequest, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';
import { requestedScope } from '../web-client.ts';
import { describeDownloadedClient, type ClientSettings, type DownloadedClient } from './describe-downloaded-client.ts';

const version = '0.41.3';

type HandleRequest = (request: Request, configuration: object) => Promise<Response>;
const authJsModule = z.object({ Auth: z.custom<HandleRequest>((value) => typeof value === 'function') });

const sessionSchema = z.object({
  sub: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  accessToken: z.string(),
  idToken: z.string(),
});

type Claims = Readonly<Record<string, unknown>>;
type TokenCallback = { readonly token: Claims; readonly account?: Claims | null; readonly profile?: Claims; readonly trigger?: string };

/** Configures Auth.js as its guides recommend for applications that need the tokens: the callback `jwt` stores and refreshes the tokens. */
const createConfiguration = ({ issuer, clientId, secret }: ClientSettings) => ({
  basePath: '/auth',
  trustHost: true,
  secret: randomUUID(),
  providers: [
    {
      id: 'mandate',
      name: 'Mandate',
      type: 'oidc',
      issuer,
      clientId,
      clientSecret: secret,
      authorization: { params: { scope: requestedScope } },
      checks: ['pkce', 'state', 'nonce'],
      idToken: false, // Auth.js then reads the profile from userinfo
    },
  ],
  callbacks: {
    jwt: async ({ token, account, profile = {}, trigger }: TokenCallback): Promise<Claims> => {
      const { sub, email, email_verified: emailVerified } = profile;
      if (account) return { sub, email, emailVerified, ...selectTokens(account) };
      if (trigger !== 'update') return token;
      const form = { grant_type: 'refresh_token', refresh_token: String(token['refreshToken']) };
      const response = await sendTokenRequest(issuer, form, basicAuthorization(clientId, secret));
      return { ...token, ...selectTokens(tokenResponseSchema.parse(await response.json())) };
    },
    session: ({ session, token }: { readonly session: Claims; readonly token: Claims }): Claims => ({ ...session, ...token }),
    redirect: ({ url }: { readonly url: string }): string => url, // permits redirects to the end session endpoint
  },
});

const selectTokens = ({ access_token: accessToken, refresh_token: refreshToken, id_token: idToken }: Claims): Claims => ({
  accessToken,
  refreshToken,
  idToken,
});

const readSession = async (browser: HttpBrowser) =>
  sessionSchema.nullable().parse(await (await browser.request('/auth/session', { headers: { accept: 'application/json' } })).json());

const readCsrfToken = async (browser: HttpBrowser): Promise<string> =>
  z.object({ csrfToken: z.string() }).parse(await (await browser.request('/auth/csrf')).json()).csrfToken;

/** Auth.js handles requests without a server of its own. */
let handleRequest: HandleRequest;

const authJs: DownloadedClient = {
  name: `Auth.js (@auth/core ${version})`,
  requirements: {},
  redirectPath: '/auth/callback/mandate',
  install: (folder) => createEmptyProject(folder, [`@auth/core@${version}`]),
  async start({ folder }) {
    const imported: unknown = await import(pathToFileURL(join(folder, 'node_modules/@auth/core/index.js')).href);
    handleRequest = authJsModule.parse(imported).Auth;
    return { [Symbol.asyncDispose]: async () => undefined };
  },
  createWebClient(settings) {
    const configuration = createConfiguration(settings);
    return {
      origin: settings.origin,
      send: async (url, init) =>
        url.pathname.startsWith('/auth/') ? handleRequest(new Request(url, init), configuration) : new Response('welcome'),
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
        const query = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: settings.signedOutUri });
        const callbackUrl = `${settings.issuer}/oauth/logout?${query.toString()}`;
        const body = new URLSearchParams({ csrfToken: await readCsrfToken(browser), callbackUrl });
        return browser.open('/auth/signout', { method: 'POST', body });
      },
    };
  },
};

describeDownloadedClient(authJs);
