import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import { createApplication, type ApplicationInput } from '../../server/applications/validate-and-create-application.ts';
import { HttpBrowser, type HtmlPage, type SendRequest } from '../support/browser/browser.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { signUp, type ClientCredentials, type TestUser } from '../support/oauth/oauth-flow.ts';
import { fetchApiStatus, type RunningServer } from '../support/server/use-server.ts';
import { expectSignOut } from './client-program.ts';

/** Data that an application has received about its signed-in user. */
export type ClientSession = {
  readonly sub: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly accessToken: string;
};

/** Scopes that every tested application requests. With the API scope, the access token is also valid for the API. */
export const requestedScope = 'openid profile email users.read';

/** A web application with its own sign-in. Browsers reach the application at `origin`. */
export type WebClient = {
  readonly origin: string;
  /** Sends the browser's requests if the application does not listen at its origin (default: fetch). */
  readonly send?: SendRequest;
  /** Opens a page that requires a sign-in. The final redirect leads to the authorization endpoint. */
  readonly startSignIn: (browser: HttpBrowser) => Promise<HtmlPage>;
  /** Returns the session, or `undefined` if no user is signed in. */
  readonly readSession: (browser: HttpBrowser) => Promise<ClientSession | undefined>;
  /** Makes the application refresh its tokens. */
  readonly refresh: (browser: HttpBrowser, session: ClientSession) => Promise<unknown>;
  /** Signs the user out of the application. The final redirect leads to the end session endpoint. */
  readonly signOut: (browser: HttpBrowser) => Promise<HtmlPage>;
};

export type WebClientUrls = {
  readonly redirectUri: string;
  /** Page to which the user returns after signing out. */
  readonly signedOutUri: string;
  readonly backchannelLogoutUri?: string;
};

type PkceException = Pick<ApplicationInput, 'allowNeitherPkceNorNonce'>;

/** Registers a confidential web application. */
export async function registerWebClient(
  { db }: Pick<RunningServer, 'db'>,
  { redirectUri, signedOutUri, backchannelLogoutUri, allowNeitherPkceNorNonce }: WebClientUrls & PkceException,
): Promise<ClientCredentials> {
  const clientId = `client-${randomUUID()}`;
  const { secret } = await createApplication(db.em.fork(), {
    clientId,
    name: 'Web application',
    type: 'confidential',
    redirectUris: [redirectUri],
    postLogoutRedirectUris: [signedOutUri],
    backchannelLogoutUri: backchannelLogoutUri ?? null,
    scopes: ['users.read'],
    grantTypes: ['authorization_code', 'refresh_token'],
    ...(allowNeitherPkceNorNonce !== undefined && { allowNeitherPkceNorNonce }),
  });
  return { clientId, secret: secret ?? '' };
}

/** Signs a new user in to the application. Returns the user, the browser at the application, and the session. */
export async function signInToWebClient(
  server: Pick<RunningServer, 'origin'>,
  client: WebClient,
): Promise<{ user: TestUser; browser: HttpBrowser; session: ClientSession }> {
  const user = await signUp(server.origin);
  const browser = new HttpBrowser(client.origin, undefined, client.send);
  const callback = await completeAuthorization(user, requireRedirect(await client.startSignIn(browser)));
  const landing = await browser.open(callback.href);
  const session = await client.readSession(browser);
  if (!session) throw new Error(`no session after ${landing.url.href} with ${landing.response.status}: ${landing.text}`);
  return { user, browser, session };
}

/**
 * Signs a new user in to the application, refreshes the tokens, calls the API with them, and signs the user out of the application and the
 * server.
 */
export async function expectCompleteSession(
  server: Pick<RunningServer, 'origin'>,
  client: WebClient,
  { signedOutUri }: Pick<WebClientUrls, 'signedOutUri'>,
): Promise<void> {
  const { user, browser, session } = await signInToWebClient(server, client);
  expect(session).toEqual({ sub: String(user.id), email: user.email, emailVerified: true, accessToken: expect.any(String) });
  expect(await fetchApiStatus(server, session.accessToken)).toBe(200);

  await client.refresh(browser, session);
  const hasNewToken = async (): Promise<boolean> => {
    const { accessToken } = (await client.readSession(browser)) ?? session;
    return accessToken !== session.accessToken && (await fetchApiStatus(server, accessToken)) === 200;
  };
  await expect.poll(hasNewToken).toBe(true);

  expect(await expectSignOut(user, requireRedirect(await client.signOut(browser)))).toBe(signedOutUri);
  expect(await client.readSession(browser)).toBeUndefined();
}

function requireRedirect({ externalRedirect, url, response, text }: HtmlPage): URL {
  if (!externalRedirect) throw new Error(`no redirect to another site at ${url.href} with ${response.status}: ${text}`);
  return externalRedirect;
}

const accessLogLine = z.object({ path: z.string(), status: z.number() });

/** Records the status and the path of each request that the server has logged, such as `200 /oauth/userinfo`. */
export function recordRequests(): { readonly requests: readonly string[]; readonly onLogLine: (line: string) => void } {
  const requests: string[] = [];
  const onLogLine = (line: string): void => {
    const { success, data } = accessLogLine.safeParse(JSON.parse(line));
    if (success) requests.push(`${data.status} ${data.path}`);
  };
  return { requests, onLogLine };
}
