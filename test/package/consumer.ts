// This is the code of a project that uses `@mandate/client-sdk`. The test compiles it with several versions of TypeScript and runs it.
import { ApiError, AuthorizationError, createClient, debugLog, formatMoney, type Middleware, type Order } from '@mandate/client-sdk';
import { clientCredentials, discover, memoryStore, newProofKey, refreshingTokens, type Tokens } from '@mandate/client-sdk/authorization';
import { browserSignIn, type BrowserSignIn } from '@mandate/client-sdk/authorization/browser';
import { signInOnLoopback } from '@mandate/client-sdk/authorization/node';
import { queryOptions } from '@mandate/client-sdk/query';
import { createServerSignIn, type ServerSession } from '@mandate/client-sdk/server';

const respondNotFound: Middleware = async () => new Response('{"code":"not_found","status":404}', { status: 404 });
const client = createClient({ baseUrl: 'https://shop.example', auth: 'a token' })
  .use(debugLog(() => undefined))
  .use(respondNotFound);
const options = queryOptions(client);

export async function main(): Promise<string> {
  const result = await client.orders.get(7).safe();
  if (result.ok) {
    const order: Order = result.data;
    return formatMoney(order.total, order.currency, 'en');
  }
  switch (result.error.code) {
    case 'not_found':
      return `${result.error.status} ${result.error instanceof ApiError} ${options.queries.orders.get(7).queryKey.join('/')}`;
    // @ts-expect-error -- this problem code does not exist
    case 'no_such_code':
      return '';
    default:
      return result.error.message;
  }
}

export const invalidCalls = [
  // @ts-expect-error -- a path parameter cannot be an object
  () => client.orders.get({ id: 7 }),
  // @ts-expect-error -- a new product requires a price
  () => client.products.create({ sku: 'MUG-02', name: 'Mug', currency: 'GBP' }),
];
export const signIn = (): BrowserSignIn =>
  browserSignIn({ issuer: 'https://shop.example', clientId: 'x', redirectUri: 'https://app.example/', scopes: ['orders.read'] });
export const openSession = (request: Request): Promise<ServerSession> =>
  createServerSignIn({
    issuer: 'https://shop.example',
    clientId: 'x',
    clientSecret: 'y',
    redirectUri: 'https://app.example/callback',
    scopes: ['orders.read'],
    cookieSecrets: ['a secret of at least thirty-two characters'],
  }).openSession(request);
export async function signInFromNode(): Promise<Tokens> {
  const proofKey = await newProofKey();
  const tokens = await signInOnLoopback(await discover('https://shop.example', { proofKey }), {
    clientId: 'x',
    scopes: [],
    open: () => undefined,
  });
  refreshingTokens({ issuer: 'https://shop.example', clientId: 'x', store: memoryStore(tokens), proofKey });
  clientCredentials({ issuer: 'https://shop.example', clientId: 'x', clientSecret: 'y' });
  return tokens;
}
/** Checks that all entry points of the package export the same error class. */
export const sameClass = async (): Promise<boolean> =>
  discover('https://shop.example', { fetch: async () => new Response('{"error":"x"}', { status: 400 }) }).catch(
    (error: unknown) => error instanceof AuthorizationError,
  ) as Promise<boolean>;
