/** Tests MSAL for Node.js with an authorization server that is not operated by Microsoft. */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createApplication } from '../../../server/applications/validate-and-create-application.ts';
import { createEmptyProject } from '../../package/pack-and-install.ts';
import { buildFormRequest } from '../../support/browser/browser.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { fetchApiStatus } from '../../support/server/use-server.ts';
import type { ClientSession, WebClient } from '../web-client.ts';
import { describeDownloadedClient, type ClientSettings, type DownloadedClient } from './describe-downloaded-client.ts';

const version = '7.2.3';

/** MSAL adds `openid`, `profile` and `offline_access`. */
const scopes = ['email', 'users.read'];

type Account = { readonly idTokenClaims: Readonly<Record<string, unknown>> };
type Tokens = { readonly account: Account | null; readonly accessToken: string; readonly idToken: string; readonly fromCache: boolean };
type TokenCache = {
  readonly getAllAccounts: () => Promise<readonly Account[]>;
  readonly removeAccount: (account: Account) => Promise<void>;
};
type Application = {
  readonly acquireTokenSilent: (request: { account: Account; scopes: readonly string[]; forceRefresh?: boolean }) => Promise<Tokens>;
  readonly getTokenCache: () => TokenCache;
};
type WebApplication = Application & {
  readonly getAuthCodeUrl: (request: object) => Promise<string>;
  readonly acquireTokenByCode: (request: object, response: object) => Promise<Tokens>;
};
type DesktopApplication = Application & {
  readonly acquireTokenInteractive: (request: {
    scopes: readonly string[];
    openBrowser: (url: string) => Promise<void>;
  }) => Promise<Tokens>;
};
type PkceCodes = { readonly verifier: string; readonly challenge: string };

const isFunction = (value: unknown): boolean => typeof value === 'function';
const msalModule = z.object({
  ConfidentialClientApplication: z.custom<new (configuration: object) => WebApplication>(isFunction),
  PublicClientApplication: z.custom<new (configuration: object) => DesktopApplication>(isFunction),
  CryptoProvider: z.custom<new () => { readonly generatePkceCodes: () => Promise<PkceCodes> }>(isFunction),
  ProtocolMode: z.object({ OIDC: z.string() }),
});

const userinfoSchema = z.object({ sub: z.string(), email: z.string(), email_verified: z.boolean() });

/** MSAL handles requests in this process, without a server of its own. */
let msal: z.output<typeof msalModule>;

const createConfiguration = (issuer: string, client: Readonly<Record<string, string>>) => ({
  auth: { ...client, authority: issuer, knownAuthorities: [new URL(issuer).host] },
  system: { protocolMode: msal.ProtocolMode.OIDC },
});

/** A web application with one user, whose tokens are in MSAL's cache. */
class MsalWebApplication {
  readonly #settings: ClientSettings;
  readonly #msal: WebApplication;
  #request: { readonly state: string; readonly nonce: string; readonly codeVerifier: string } | undefined;

  constructor(settings: ClientSettings) {
    const { issuer, clientId, secret } = settings;
    this.#settings = settings;
    this.#msal = new msal.ConfidentialClientApplication(createConfiguration(issuer, { clientId, clientSecret: secret }));
  }

  /** Handles a browser's request. */
  async handle(url: URL): Promise<Response> {
    if (url.pathname === '/sign-in') return Response.redirect(await this.#startSignIn());
    if (url.pathname === '/callback') await this.#completeSignIn(url.searchParams);
    if (url.pathname === '/sign-out') return Response.redirect(await this.#signOut());
    return new Response('welcome');
  }

  async #startSignIn(): Promise<string> {
    const { verifier, challenge } = await new msal.CryptoProvider().generatePkceCodes();
    const { redirectUri } = this.#settings;
    this.#request = { state: randomUUID(), nonce: randomUUID(), codeVerifier: verifier };
    const { state, nonce } = this.#request;
    return this.#msal.getAuthCodeUrl({ scopes, redirectUri, state, nonce, codeChallenge: challenge, codeChallengeMethod: 'S256' });
  }

  async #completeSignIn(callback: URLSearchParams): Promise<void> {
    const [code, state] = [callback.get('code'), callback.get('state')];
    const request = { ...this.#request, scopes, redirectUri: this.#settings.redirectUri, code };
    await this.#msal.acquireTokenByCode(request, { code, state });
  }

  /** MSAL ends only its own session. No public function returns the URL of the end session endpoint. */
  async #signOut(): Promise<string> {
    const { account, idToken } = await this.acquireToken(false);
    if (!account) throw new Error('MSAL has no account');
    await this.#msal.getTokenCache().removeAccount(account);
    const { issuer, signedOutUri } = this.#settings;
    return `${issuer}/oauth/logout?${new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: signedOutUri }).toString()}`;
  }

  async acquireToken(forceRefresh: boolean): Promise<Tokens> {
    const account = await this.#findAccount();
    if (!account) throw new Error('no user is signed in');
    return this.#msal.acquireTokenSilent({ account, scopes, forceRefresh });
  }

  async #findAccount(): Promise<Account | undefined> {
    const [account] = await this.#msal.getTokenCache().getAllAccounts();
    return account;
  }

  /** MSAL has no function that requests userinfo, so the application sends the request. */
  async readSession(): Promise<ClientSession | undefined> {
    const account = await this.#findAccount();
    if (!account) return undefined;
    const { accessToken } = await this.acquireToken(false);
    const response = await fetch(`${this.#settings.issuer}/oauth/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } });
    const { sub, email, email_verified: emailVerified } = userinfoSchema.parse(await response.json());
    if (account.idTokenClaims['sub'] !== sub) throw new Error('the ID token and userinfo have different users');
    return { sub, email, emailVerified, accessToken };
  }
}

const msalForNode: DownloadedClient = {
  name: `MSAL (@azure/msal-node ${version})`,
  requirements: {},
  requiresHttps: true,
  redirectPath: '/callback',
  install: (folder) => createEmptyProject(folder, [`@azure/msal-node@${version}`]),
  async start({ folder }) {
    msal = msalModule.parse(createRequire(join(folder, 'package.json'))('@azure/msal-node'));
    return { [Symbol.asyncDispose]: async () => undefined };
  },
  createWebClient(settings): WebClient {
    const application = new MsalWebApplication(settings);
    return {
      origin: settings.origin,
      send: (url) => application.handle(url),
      startSignIn: (browser) => browser.open('/sign-in'),
      readSession: () => application.readSession(),
      refresh: () => application.acquireToken(true),
      signOut: (browser) => browser.open('/sign-out'),
    };
  },
};

describeDownloadedClient(msalForNode, (running) => {
  test('signs a user in to a desktop application, which listens on any port, and refreshes the tokens', async () => {
    const { server } = running();
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
    const application = new msal.PublicClientApplication(createConfiguration(server.origin, { clientId }));
    const openBrowser = async (url: string): Promise<void> => {
      const page = await user.browser.submit(await user.browser.open(url), { decision: 'allow' });
      const [, loopbackUrl = ''] = /<form method="post" action="([^"]+)"/.exec(page.text) ?? []; // response_mode=form_post
      await fetch(loopbackUrl, buildFormRequest(page, {}));
    };
    const { account, accessToken } = await application.acquireTokenInteractive({ scopes, openBrowser });
    if (!account) throw new Error('MSAL has no account');
    expect(account.idTokenClaims).toMatchObject({ sub: String(user.id), email: user.email });
    const refreshed = await application.acquireTokenSilent({ account, scopes, forceRefresh: true });
    expect(refreshed.accessToken).not.toBe(accessToken);
    expect(await fetchApiStatus(server, refreshed.accessToken)).toBe(200);
  });
});
