import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { hashPassword } from '../../../server/oauth/passwords/hash-and-verify-password.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { obtainAuthorizationCode, type TokenResponse } from '../../support/oauth/oauth-flow.ts';
import { requestTokens } from './client-token.ts';
import type { ShopSize } from './fill-shop.ts';
import type { Customer, Target } from './target.ts';
import { issuer, sendThroughProxy } from './tls-proxy.ts';

const password = 'benchmark user password';
const customerScopes = 'openid orders.read orders.write payments.write';
/** Age at which tokens are replaced. Tokens are valid for five minutes, and a round takes only a few seconds. */
const maxTokenAgeMs = 120_000;
/** Number of concurrent requests while customers are prepared. Additional concurrent sign-ins would only wait for password hashing. */
const batchSize = 4;

/** Sets a password for each of the first `count` users, so that they can sign in. */
export async function setPasswords(em: EntityManager, count: number): Promise<void> {
  const hash = await hashPassword(password);
  await em.execute(`update users set email_verification = 'verified' where id <= ?`, [count]);
  await em.execute('insert into passwords (user_id, hash, changed_at) select id, ?, now() from users where id <= ?', [hash, count]);
}

/** Opens a separate browser for each of the first `count` users and signs the user in if `signIn` is true. */
export async function openBrowsers(origin: string, count: number, signIn: boolean): Promise<readonly HttpBrowser[]> {
  const browsers = Array.from({ length: count }, () => new HttpBrowser(issuer, undefined, sendThroughProxy(origin)));
  if (!signIn) return browsers;
  await mapInBatches(browsers, async (browser, at) => {
    const page = await browser.submit(await browser.open('/sign-in'), { email: `user${at + 1}@example.com`, password });
    if (page.url.pathname !== '/account') throw new Error(`sign-in led to ${page.url.pathname}: ${page.text}`);
  });
  return browsers;
}

/** Returns the ID of a random order that belongs to the customer. `fillShop` distributes the orders evenly. */
export function randomOwnOrder({ userId }: Customer, { orders, users }: ShopSize): number {
  const count = Math.floor((orders - userId) / users) + 1;
  return userId + users * Math.floor(Math.random() * count);
}

type Website = Pick<Target, 'measuredServer' | 'website'>;

/** Obtains tokens for the website with an authorization request from a customer's browser. */
export async function authorizeWebsite(
  { measuredServer, website }: Website,
  browser: HttpBrowser,
  parameters: Readonly<Record<string, string>>,
  tokenRequestHeaders: Record<string, string> = {},
): Promise<TokenResponse> {
  const request = { client_id: website.clientId, redirect_uri: website.redirectUri, ...parameters };
  const { code, verifier } = await obtainAuthorizationCode(issuer, { browser }, request);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: website.redirectUri };
  return requestTokens(sendThroughProxy(measuredServer.origin), website, form, tokenRequestHeaders);
}

/** Returns a function that returns customers with tokens that are valid for at least three more minutes. */
export function createCustomers(website: Website, browsers: Target['browsers']): () => Promise<readonly Customer[]> {
  const refresh = ({ refresh_token: token = '' }: TokenResponse): Promise<TokenResponse> =>
    requestTokens(sendThroughProxy(website.measuredServer.origin), website.website, { grant_type: 'refresh_token', refresh_token: token });
  let tokens: readonly TokenResponse[] | undefined;
  let obtainedAt = 0;
  return async () => {
    if (!tokens) tokens = await mapInBatches(await browsers(), (browser) => authorizeWebsite(website, browser, { scope: customerScopes }));
    else if (performance.now() - obtainedAt > maxTokenAgeMs) tokens = await mapInBatches(tokens, refresh);
    else return toCustomers(tokens);
    obtainedAt = performance.now();
    return toCustomers(tokens);
  };
}

const toCustomers = (tokens: readonly TokenResponse[]): readonly Customer[] =>
  tokens.map(({ access_token: token }, at) => ({ userId: at + 1, token }));

/** Maps items in small concurrent batches. Returns the results in the order of the items. */
export async function mapInBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += batchSize)
    results.push(...(await Promise.all(items.slice(from, from + batchSize).map((item, at) => work(item, from + at)))));
  return results;
}
