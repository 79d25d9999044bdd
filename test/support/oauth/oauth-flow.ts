/**
 * Obtains real tokens for tests through the pages and endpoints:
 *
 *   const anna = await signUp(origin);                                         // signs up a customer on the sign-up page
 *   const admin = await signUpAs(db, origin, 'admin');                          // signs up a user with a role
 *   const { access_token } = await tokensFor(origin, anna, ['orders.read']);   // authorization code with PKCE and consent, as in `mandate login`
 *   const { code, verifier } = await authorize(origin, anna, { scope: 'openid orders.read' });
 *   const token = await clientCredentials(origin, { clientId, secret }, ['orders.manage']);
 *   const { clientId, secret } = await confidentialClient(db, ['orders.manage']);
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Scope } from '@mandate/contract';
import { z } from 'zod';
import { createApplication } from '../../../server/applications/create-application.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import type { User } from '../../../server/users/user.entity.ts';
import { Browser, type Page } from '../browser/browser.ts';
import { followMailTo } from '../services/mailbox.ts';

export type Person = {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly browser: Browser;
};

export const tokenResponse = z.object({
  access_token: z.string(),
  token_type: z.string(),
  expires_in: z.number(),
  scope: z.string().optional(),
  refresh_token: z.string().optional(),
  id_token: z.string().optional(),
});
export type TokenResponse = z.infer<typeof tokenResponse>;

export const commandLine = { clientId: 'mandate-cli', redirectUri: 'http://127.0.0.1:49152/callback' };

const randomSuffix = (): string => randomBytes(6).toString('hex');

/** Signs up a new user. Returns the user with a signed-in browser. */
export async function signUp(origin: string, given: { name?: string; email?: string; password?: string } = {}): Promise<Person> {
  const { name = 'Anna Test', email = `anna.${randomSuffix()}@example.com`, password = `correct horse ${randomSuffix()}` } = given;
  const browser = new Browser(origin);
  const account = await completeSignUp(origin, browser, await browser.open('/sign-up'), { name, email, password });
  if (account.url.pathname !== '/account') throw new Error(`sign-up ended at ${account.url.pathname}: ${account.text}`);
  return { id: await readUserId(origin, browser), name, email, password, browser };
}

/** Completes sign-up: submits the e-mail address, follows the link in the e-mail and submits name and password. Returns the last page. */
export async function completeSignUp(
  origin: string,
  browser: Browser,
  page: Page,
  { name, email, password }: Pick<Person, 'name' | 'email' | 'password'>,
): Promise<Page> {
  await browser.submit(page, { email });
  return browser.submit(await browser.open(await followMailTo(origin, email)), { name, password });
}

/** Signs up a new user and sets the role in the database. */
export async function signUpAs(db: Database, origin: string, role: User['role']): Promise<Person> {
  const user = await signUp(origin, { name: `Test ${role}` });
  await db.em.fork().execute('update users set role = ? where id = ?', [role, user.id]);
  return user;
}

export async function signIn(origin: string, { email, password }: Pick<Person, 'email' | 'password'>): Promise<Browser> {
  const browser = new Browser(origin);
  const account = await browser.submit(await browser.open('/sign-in'), { email, password });
  if (account.url.pathname !== '/account') throw new Error(`sign-in ended at ${account.url.pathname}`);
  return browser;
}

export type AuthorizationRequest = Record<string, string>;

export function authorizationRequest(given: AuthorizationRequest = {}): { query: AuthorizationRequest; verifier: string } {
  const verifier = randomBytes(32).toString('base64url');
  const query = {
    client_id: commandLine.clientId,
    redirect_uri: commandLine.redirectUri,
    response_type: 'code',
    scope: 'openid orders.read',
    state: randomSuffix(),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...given,
  };
  return { query, verifier };
}

export const authorizePath = (query: AuthorizationRequest): string => `/oauth/authorize?${new URLSearchParams(query).toString()}`;

/**
 * Obtains an authorization code. Submits the consent page if the authorization requires consent.
 * @param consentForm the fields for the consent page
 */
export async function authorize(
  origin: string,
  user: Pick<Person, 'browser'>,
  given: AuthorizationRequest = {},
  consentForm: Record<string, string | readonly string[]> = { decision: 'allow' },
): Promise<{ code: string; verifier: string; redirectUri: string; clientId: string; leaves: URL }> {
  const { query, verifier } = authorizationRequest(given);
  let page: Page = await user.browser.open(authorizePath(query));
  if (page.url.pathname.startsWith('/consent/')) page = await user.browser.submit(page, consentForm);
  if (!page.leaves) throw new Error(`authorization at ${origin} ended at ${page.url.pathname} ${page.response.status}: ${page.text}`);
  const code = page.leaves.searchParams.get('code') ?? '';
  return { code, verifier, redirectUri: query['redirect_uri'] ?? '', clientId: query['client_id'] ?? '', leaves: page.leaves };
}

/** Sends a request to the token endpoint. */
export const askForTokens = (origin: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form), headers });

export const redeem = (
  origin: string,
  { code, verifier, redirectUri, clientId }: { code: string; verifier: string; redirectUri: string; clientId: string },
) =>
  askForTokens(origin, { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId });

export const refresh = (origin: string, refreshToken: string, form: Record<string, string> = {}) =>
  askForTokens(origin, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: commandLine.clientId, ...form });

/** Returns the status and the error code of an OAuth error response, such as `400 invalid_grant`. */
export async function refusal(response: Response): Promise<string> {
  const { error } = z.object({ error: z.string().default('without an error') }).parse(await response.json());
  return `${response.status} ${error}`;
}

/** Obtains access and refresh tokens of the command-line client with the consent of the user. */
export async function tokensFor(origin: string, user: Pick<Person, 'browser'>, scopes: readonly Scope[]): Promise<TokenResponse> {
  const response = await redeem(origin, await authorize(origin, user, { scope: ['openid', ...scopes].join(' ') }));
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return tokenResponse.parse(await response.json());
}

export const basic = (clientId: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

/** Obtains an access token with the client credentials grant. */
export async function clientCredentials(origin: string, { clientId, secret }: Client, scopes: readonly Scope[]): Promise<string> {
  const form = { grant_type: 'client_credentials', scope: scopes.join(' ') };
  const response = await askForTokens(origin, form, basic(clientId, secret));
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return tokenResponse.parse(await response.json()).access_token;
}

export type Client = { readonly clientId: string; readonly secret: string };

/** Creates a confidential client for the client credentials grant, with these allowed scopes. */
export async function confidentialClient(db: Database, scopes: readonly Scope[]): Promise<Client> {
  return insertApplication(db, { grantTypes: ['client_credentials'], scopes });
}

/** Creates a third-party web insertApplication for the authorization code grant. */
export async function webApplication(
  db: Database,
  scopes: readonly Scope[],
  redirectUri = 'https://app.example/callback',
  ...moreRedirectUris: readonly string[]
): Promise<Client & { redirectUri: string }> {
  const redirectUris = [redirectUri, ...moreRedirectUris];
  const client = await insertApplication(db, { grantTypes: ['authorization_code', 'refresh_token'], scopes, redirectUris });
  return { ...client, redirectUri };
}

async function insertApplication(
  db: Database,
  input: Pick<Parameters<typeof createApplication>[1], 'grantTypes' | 'scopes' | 'redirectUris'>,
): Promise<Client> {
  const clientId = `client-${randomSuffix()}`;
  const { secret } = await createApplication(db.em.fork(), { clientId, name: 'Test application', type: 'confidential', ...input });
  return { clientId, secret: secret ?? '' };
}

async function readUserId(origin: string, browser: Browser): Promise<number> {
  const tokens = await tokensFor(origin, { browser }, []);
  const [, claims = ''] = (tokens.id_token ?? '').split('.');
  return Number(z.object({ sub: z.string() }).parse(JSON.parse(Buffer.from(claims, 'base64url').toString())).sub);
}
