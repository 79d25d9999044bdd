/**
 * Real tokens for tests, by way of the pages and endpoints:
 *
 *   const anna = await signUp(origin);                                         // a customer, through the sign-up page
 *   const boss = await signUpAs(db, origin, 'admin');                          // the same with a role
 *   const { access_token } = await tokensFor(origin, anna, ['orders.read']);   // code with PKCE through consent, as `mandate login` does
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

const unique = (): string => randomBytes(6).toString('hex');

/** Somebody new, signed in in a browser of their own. */
export async function signUp(origin: string, given: { name?: string; email?: string; password?: string } = {}): Promise<Person> {
  const { name = 'Anna Test', email = `anna.${unique()}@example.com`, password = `correct horse ${unique()}` } = given;
  const browser = new Browser(origin);
  const account = await completeSignUp(origin, browser, await browser.open('/sign-up'), { name, email, password });
  if (account.url.pathname !== '/account') throw new Error(`sign-up ended at ${account.url.pathname}: ${account.text}`);
  return { id: await idOf(origin, browser), name, email, password, browser };
}

/** From the page that asks for the address through the message sent to it. */
export async function completeSignUp(
  origin: string,
  browser: Browser,
  page: Page,
  { name, email, password }: Pick<Person, 'name' | 'email' | 'password'>,
): Promise<Page> {
  await browser.submit(page, { email });
  return browser.submit(await browser.open(await followMailTo(origin, email)), { name, password });
}

/** Somebody new with a role, which no page gives. */
export async function signUpAs(db: Database, origin: string, role: User['role']): Promise<Person> {
  const person = await signUp(origin, { name: `Test ${role}` });
  await db.em.fork().execute('update users set role = ? where id = ?', [role, person.id]);
  return person;
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
    state: unique(),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...given,
  };
  return { query, verifier };
}

export const authorizePath = (query: AuthorizationRequest): string => `/oauth/authorize?${new URLSearchParams(query).toString()}`;

/** To the redirect that carries the code, saying yes where asked. `decide`: what is sent with the consent page. */
export async function authorize(
  origin: string,
  person: Pick<Person, 'browser'>,
  given: AuthorizationRequest = {},
  decide: Record<string, string | readonly string[]> = { decision: 'allow' },
): Promise<{ code: string; verifier: string; redirectUri: string; clientId: string; leaves: URL }> {
  const { query, verifier } = authorizationRequest(given);
  let page: Page = await person.browser.open(authorizePath(query));
  if (page.url.pathname.startsWith('/consent/')) page = await person.browser.submit(page, decide);
  if (!page.leaves) throw new Error(`authorization at ${origin} ended at ${page.url.pathname} ${page.response.status}: ${page.text}`);
  const code = page.leaves.searchParams.get('code') ?? '';
  return { code, verifier, redirectUri: query['redirect_uri'] ?? '', clientId: query['client_id'] ?? '', leaves: page.leaves };
}

/** POST to the token endpoint. */
export const askForTokens = (origin: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form), headers });

export const redeem = (
  origin: string,
  { code, verifier, redirectUri, clientId }: { code: string; verifier: string; redirectUri: string; clientId: string },
) =>
  askForTokens(origin, { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId });

export const refresh = (origin: string, refreshToken: string, form: Record<string, string> = {}) =>
  askForTokens(origin, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: commandLine.clientId, ...form });

/** Status and error of an answer of the protocol, as in `400 invalid_grant`. */
export async function refusal(response: Response): Promise<string> {
  const { error } = z.object({ error: z.string().default('without an error') }).parse(await response.json());
  return `${response.status} ${error}`;
}

/** Access and refresh token for the command line, as this person allowed them. */
export async function tokensFor(origin: string, person: Pick<Person, 'browser'>, scopes: readonly Scope[]): Promise<TokenResponse> {
  const response = await redeem(origin, await authorize(origin, person, { scope: ['openid', ...scopes].join(' ') }));
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return tokenResponse.parse(await response.json());
}

export const basic = (clientId: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

/** The access token of an application that acts for itself. */
export async function clientCredentials(origin: string, { clientId, secret }: Client, scopes: readonly Scope[]): Promise<string> {
  const form = { grant_type: 'client_credentials', scope: scopes.join(' ') };
  const response = await askForTokens(origin, form, basic(clientId, secret));
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return tokenResponse.parse(await response.json()).access_token;
}

export type Client = { readonly clientId: string; readonly secret: string };

/** An application that acts for itself, with these scopes as its ceiling. */
export async function confidentialClient(db: Database, scopes: readonly Scope[]): Promise<Client> {
  return application(db, { grantTypes: ['client_credentials'], scopes });
}

/** A website of somebody else's that people sign in to. */
export async function webApplication(
  db: Database,
  scopes: readonly Scope[],
  redirectUri = 'https://app.example/callback',
  ...others: readonly string[]
): Promise<Client & { redirectUri: string }> {
  const redirectUris = [redirectUri, ...others];
  const client = await application(db, { grantTypes: ['authorization_code', 'refresh_token'], scopes, redirectUris });
  return { ...client, redirectUri };
}

async function application(
  db: Database,
  input: Pick<Parameters<typeof createApplication>[1], 'grantTypes' | 'scopes' | 'redirectUris'>,
): Promise<Client> {
  const clientId = `client-${unique()}`;
  const { secret } = await createApplication(db.em.fork(), { clientId, name: 'Test application', type: 'confidential', ...input });
  return { clientId, secret: secret ?? '' };
}

async function idOf(origin: string, browser: Browser): Promise<number> {
  const tokens = await tokensFor(origin, { browser }, []);
  const [, claims = ''] = (tokens.id_token ?? '').split('.');
  return Number(z.object({ sub: z.string() }).parse(JSON.parse(Buffer.from(claims, 'base64url').toString())).sub);
}
