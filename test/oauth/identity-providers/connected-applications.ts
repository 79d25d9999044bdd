import { HttpBrowser } from '../../support/browser/browser.ts';
import type { FakeClaims, FakeIdentityProvider } from '../../support/identity-providers/fake-identity-provider.ts';
import { approveDevice, expirePollIntervalSql, pollDeviceToken, startDeviceAuthorization } from '../../support/oauth/device-flow.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  cliClient,
  createWebApplication,
  obtainTokens,
  readOAuthError,
  redeemCode,
  sendRefreshRequest,
  sendTokenRequest,
  signInToApplication,
  tokenResponseSchema,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';
import type { RunningServer } from '../../support/server/use-server.ts';
import { pressProviderButton } from './provider-sign-in.ts';

type Server = Pick<RunningServer, 'origin' | 'db'>;
type SignedInUser = { readonly browser: HttpBrowser };

/** An application with access to the shop. */
export type ConnectedApplication = {
  readonly accessToken: string;
  /** Refreshes the application's tokens. Returns the status, and the error if there is one. */
  readonly refresh: () => Promise<string>;
};

/** @param send sends the refresh request (default: as the command-line client) */
export function createConnectedApplication(
  { origin }: Server,
  { access_token: accessToken, refresh_token: first = '' }: TokenResponse,
  send = (refreshToken: string) => sendRefreshRequest(origin, refreshToken),
): ConnectedApplication {
  let refreshToken = first;
  const refresh = async (): Promise<string> => {
    const response = await send(refreshToken);
    if (response.status !== 200) return readOAuthError(response);
    refreshToken = tokenResponseSchema.parse(await response.json()).refresh_token ?? '';
    return '200';
  };
  return { refresh, accessToken };
}

/** Connects the command-line client, with the user's consent. */
export const connectCommandLineClient = async (server: Server, user: SignedInUser): Promise<ConnectedApplication> =>
  createConnectedApplication(server, await obtainTokens(server.origin, user, ['users.read']));

/** Signs in to a web application twice. The user gives consent only the first time. */
export async function connectWebApplicationTwice(server: Server, user: SignedInUser): Promise<ConnectedApplication[]> {
  const application = await createWebApplication(server.db, ['users.read']);
  const headers = basicAuthorization(application.clientId, application.secret);
  const send = (refreshToken: string) =>
    sendTokenRequest(server.origin, { grant_type: 'refresh_token', refresh_token: refreshToken }, headers);
  const connect = async () => {
    const { tokens } = await signInToApplication(server.origin, user, application, { scope: 'openid users.read' });
    return createConnectedApplication(server, tokens, send);
  };
  return [await connect(), await connect()];
}

export async function connectDevice(server: Server, user: SignedInUser): Promise<ConnectedApplication> {
  const { device_code: deviceCode, user_code: userCode } = await startDeviceAuthorization(server.origin);
  await approveDevice(user, userCode);
  await server.db.em.fork().execute(expirePollIntervalSql);
  return createConnectedApplication(server, tokenResponseSchema.parse(await (await pollDeviceToken(server.origin, deviceCode)).json()));
}

/** Connects the command-line client to the user's account; during the authorization request, the user signs in through a provider. */
export async function connectDuringSignIn(
  server: Server,
  provider: FakeIdentityProvider,
  slug: string,
  claims: FakeClaims,
): Promise<ConnectedApplication> {
  const browser = new HttpBrowser(server.origin);
  const { query, verifier } = buildAuthorizationRequest({ scope: 'openid users.read' });
  const signInPage = await browser.open(authorizationPath(query));
  const consent = await browser.open(provider.authorize(await pressProviderButton(browser, slug, signInPage), claims).href);
  const { externalRedirect } = await browser.submit(consent, { decision: 'allow' });
  const code = externalRedirect?.searchParams.get('code') ?? '';
  const response = await redeemCode(server.origin, { code, verifier, ...cliClient });
  return createConnectedApplication(server, tokenResponseSchema.parse(await response.json()));
}
