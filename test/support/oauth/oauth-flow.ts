/**
 * Obtains real tokens for tests through the pages and endpoints:
 *
 *   const anna = await signUp(origin);                                         // signs up a customer on the sign-up page
 *   const admin = await signUpWithRole(db, origin, 'admin');                    // signs up a user with a role
 *   const { access_token } = await obtainTokens(origin, anna, ['orders.read']); // authorization code with PKCE and consent, as in `mandate login`
 *   const { code, verifier } = await obtainAuthorizationCode(origin, anna, { scope: 'openid orders.read' });
 *   const token = await obtainClientToken(origin, { clientId, secret }, ['orders.manage']);
 *   const { clientId, secret } = await createConfidentialClient(db, ['orders.manage']);
 */
import { createHash, randomBytes } from 'node:crypto';
import { firstPartyOnlyScopes, type Scope } from '@mandate/contract';
import { decodeJwt, type JWTPayload } from 'jose';
import { z } from 'zod';
import { createApplication } from '../../../server/applications/validate-and-create-application.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import type { User } from '../../../server/users/user.entity.ts';
import { HttpBrowser, type HtmlPage } from '../browser/browser.ts';
import { readMailLink } from '../services/mailbox.ts';

export type TestUser = {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly browser: HttpBrowser;
};

export const tokenResponseSchema = z.object({
  access_token: z.string(),
  token_type: z.string(),
  expires_in: z.number(),
  scope: z.string().optional(),
  refresh_token: z.string().optional(),
  id_token: z.string().optional(),
});
export type TokenResponse = z.infer<typeof tokenResponseSchema>;

export const cliClient = { clientId: 'mandate-cli', redirectUri: 'http://127.0.0.1:49152/callback' };

const randomSuffix = (): string => randomBytes(6).toString('hex');

/** Signs up a new user. Returns the user with a signed-in browser. */
export async function signUp(origin: string, given: { name?: string; email?: string; password?: string } = {}): Promise<TestUser> {
  const { name = 'Anna Test', email = `anna.${randomSuffix()}@example.com`, password = `correct horse ${randomSuffix()}` } = given;
  const browser = new HttpBrowser(origin);
  const account = await completeSignUp(origin, browser, await browser.open('/sign-up'), { name, email, password });
  if (account.url.pathname !== '/account') throw new Error(`sign-up ended at ${account.url.pathname}: ${account.text}`);
  return { id: await readUserId(origin, browser), name, email, password, browser };
}

/** Completes sign-up: submits the e-mail address, follows the link in the e-mail and submits name and password. Returns the final page. */
export async function completeSignUp(
  origin: string,
  browser: HttpBrowser,
  page: HtmlPage,
  { name, email, password }: Pick<TestUser, 'name' | 'email' | 'password'>,
): Promise<HtmlPage> {
  await browser.submit(page, { email });
  return browser.submit(await browser.open(await readMailLink(origin, email)), { name, password });
}

/** Signs up a new user and sets the user's role in the database. */
export async function signUpWithRole(db: Database, origin: string, role: User['role']): Promise<TestUser> {
  const user = await signUp(origin, { name: `Test ${role}` });
  await db.em.fork().execute('update users set role = ? where id = ?', [role, user.id]);
  return user;
}

export async function signIn(origin: string, { email, password }: Pick<TestUser, 'email' | 'password'>): Promise<HttpBrowser> {
  const browser = new HttpBrowser(origin);
  const account = await browser.submit(await browser.open('/sign-in'), { email, password });
  if (account.url.pathname !== '/account') throw new Error(`sign-in ended at ${account.url.pathname}`);
  return browser;
}

export type AuthorizationParameters = Record<string, string>;

export function buildAuthorizationRequest(given: AuthorizationParameters = {}): { query: AuthorizationParameters; verifier: string } {
  const verifier = randomBytes(32).toString('base64url');
  const query = {
    client_id: cliClient.clientId,
    redirect_uri: cliClient.redirectUri,
    response_type: 'code',
    scope: 'openid orders.read',
    state: randomSuffix(),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...given,
  };
  return { query, verifier };
}

export const authorizationPath = (query: AuthorizationParameters): string => `/oauth/authorize?${new URLSearchParams(query).toString()}`;

/**
 * Obtains an authorization code. Submits the consent page if the authorization requires consent.
 * @param consentForm the form fields submitted on the consent page
 */
export async function obtainAuthorizationCode(
  origin: string,
  user: Pick<TestUser, 'browser'>,
  given: AuthorizationParameters = {},
  consentForm: Record<string, string | readonly string[]> = { decision: 'allow' },
): Promise<{ code: string; verifier: string; redirectUri: string; clientId: string; leaves: URL }> {
  const { query, verifier } = buildAuthorizationRequest(given);
  let page: HtmlPage = await user.browser.open(authorizationPath(query));
  if (page.url.pathname.startsWith('/consent/')) page = await user.browser.submit(page, consentForm);
  if (!page.externalRedirect)
    throw new Error(`authorization at ${origin} ended at ${page.url.pathname} ${page.response.status}: ${page.text}`);
  const code = page.externalRedirect.searchParams.get('code') ?? '';
  return { code, verifier, redirectUri: query['redirect_uri'] ?? '', clientId: query['client_id'] ?? '', leaves: page.externalRedirect };
}

/** Sends a request to the token endpoint. */
export const sendTokenRequest = (origin: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form), headers });

export const redeemCode = (
  origin: string,
  { code, verifier, redirectUri, clientId }: { code: string; verifier: string; redirectUri: string; clientId: string },
) =>
  sendTokenRequest(origin, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
    client_id: clientId,
  });

export const sendRefreshRequest = (origin: string, refreshToken: string, form: Record<string, string> = {}) =>
  sendTokenRequest(origin, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: cliClient.clientId, ...form });

/** Returns the status and the error code of an OAuth error response, such as `400 invalid_grant`. */
export async function readOAuthError(response: Response): Promise<string> {
  const { error } = z.object({ error: z.string().default('without an error') }).parse(await response.json());
  return `${response.status} ${error}`;
}

/** Obtains access and refresh tokens for the command-line client, with the user's consent. */
export async function obtainTokens(origin: string, user: Pick<TestUser, 'browser'>, scopes: readonly Scope[]): Promise<TokenResponse> {
  const response = await redeemCode(origin, await obtainAuthorizationCode(origin, user, { scope: ['openid', ...scopes].join(' ') }));
  if (response.status !== 200) throw new Error(`no token was issued: ${response.status} ${await response.text()}`);
  return tokenResponseSchema.parse(await response.json());
}

export const basicAuthorization = (clientId: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

/** Obtains an access token with the client credentials grant. */
export async function obtainClientToken(
  origin: string,
  { clientId, secret }: ClientCredentials,
  scopes: readonly Scope[],
): Promise<string> {
  const form = { grant_type: 'client_credentials', scope: scopes.join(' ') };
  const response = await sendTokenRequest(origin, form, basicAuthorization(clientId, secret));
  if (response.status !== 200) throw new Error(`no token was issued: ${response.status} ${await response.text()}`);
  return tokenResponseSchema.parse(await response.json()).access_token;
}

export type ClientCredentials = { readonly clientId: string; readonly secret: string };

export type WebApplication = ClientCredentials & { readonly redirectUri: string };

/** Creates a confidential client that may use the client credentials grant with these scopes. */
export async function createConfidentialClient(db: Database, scopes: readonly Scope[]): Promise<ClientCredentials> {
  return insertApplication(db, { grantTypes: ['client_credentials'], scopes });
}

/** Creates a third-party web application that uses the authorization code grant. */
export async function createWebApplication(
  db: Database,
  scopes: readonly Scope[],
  redirectUri = 'https://app.example/callback',
  ...moreRedirectUris: readonly string[]
): Promise<WebApplication> {
  const redirectUris = [redirectUri, ...moreRedirectUris];
  const client = await insertApplication(db, { grantTypes: ['authorization_code', 'refresh_token'], scopes, redirectUris });
  return { ...client, redirectUri };
}

/** Signs the user in to a web application, and returns the tokens and the claims of the ID token. */
export async function signInToApplication(
  origin: string,
  user: Pick<TestUser, 'browser'>,
  { clientId, secret, redirectUri }: WebApplication,
  parameters: AuthorizationParameters = {},
): Promise<{ tokens: TokenResponse; claims: JWTPayload }> {
  const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid', ...parameters };
  const { code, verifier } = await obtainAuthorizationCode(origin, user, request);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  const response = await sendTokenRequest(origin, form, basicAuthorization(clientId, secret));
  const tokens = tokenResponseSchema.parse(await response.json());
  return { tokens, claims: decodeJwt(tokens.id_token ?? '') };
}

async function insertApplication(
  db: Database,
  input: Pick<Parameters<typeof createApplication>[1], 'grantTypes' | 'scopes' | 'redirectUris'>,
): Promise<ClientCredentials> {
  const clientId = `client-${randomSuffix()}`;
  const firstParty = input.scopes.some((scope) => firstPartyOnlyScopes.has(scope));
  const { secret } = await createApplication(db.em.fork(), {
    clientId,
    name: 'Test application',
    type: 'confidential',
    firstParty,
    ...input,
  });
  return { clientId, secret: secret ?? '' };
}

async function readUserId(origin: string, browser: HttpBrowser): Promise<number> {
  const tokens = await obtainTokens(origin, { browser }, []);
  const [, claims = ''] = (tokens.id_token ?? '').split('.');
  return Number(z.object({ sub: z.string() }).parse(JSON.parse(Buffer.from(claims, 'base64url').toString())).sub);
}
