// A program that uses every entry point of the client. `runtimes.test.ts` runs it in every supported runtime.
import { ApiError, createClient, DecodeError, MandateError, TimeoutError, type Client } from '@mandate/client-sdk';
import { clientCredentials, newProofKey } from '@mandate/client-sdk/authorization';
import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
import { importClientKey, privateKeyJwt } from '@mandate/client-sdk/private-key-jwt';
import { queryOptions } from '@mandate/client-sdk/query';
import { createServerSignIn } from '@mandate/client-sdk/server';
import { createClient as createClientV2 } from '@mandate/client-sdk/v2';
import { followEvents, signWebhook, verifyWebhook } from '@mandate/client-sdk/webhooks';
import type { RuntimeInput } from './runtime-input.ts';

/** Uses the client, and returns the results, which must be the same in every runtime. */
export async function runClient(input: RuntimeInput): Promise<Readonly<Record<string, unknown>>> {
  const { apiUrl, clientId, clientSecret, token } = input;
  const proofKey = await newProofKey();
  const mandate = createClient({
    baseUrl: apiUrl,
    auth: token ?? clientCredentials({ issuer: apiUrl, clientId, clientSecret, proofKey }),
  });
  return {
    ...(await useApi(mandate, input)),
    ...(await provokeFailures(mandate, input)),
    event: await receiveEvent(mandate),
    webhook: await receiveWebhook(),
    query: queryOptions(mandate).queries.orders.get(7).queryKey.join('/'),
    v2: typeof createClientV2({ baseUrl: apiUrl }).orders.create,
    signedInWithoutBrowser: await browserSignIn({ issuer: apiUrl, clientId, redirectUri: 'https://app.example/', scopes: [] }).signedIn(),
    serverSignIn: await startServerSignIn(input),
    clientAssertion: await signClientAssertion(input),
  };
}

/** Signs a client assertion with a new key, and returns the names of the resulting request parameters. */
async function signClientAssertion({ apiUrl, clientId }: RuntimeInput): Promise<readonly string[]> {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const pkcs8 = String.fromCharCode(...new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey)));
  const key = await importClientKey(`-----BEGIN PRIVATE KEY-----\n${btoa(pkcs8)}\n-----END PRIVATE KEY-----`, 'ES256');
  const body = new URLSearchParams();
  await privateKeyJwt({ privateKey: key })({ issuer: apiUrl }, { client_id: clientId }, body, new Headers());
  return [...body.keys()];
}

async function useApi(mandate: Client, { userId, productId }: RuntimeInput) {
  const order = await mandate.orders.create({
    user_id: userId,
    items: [{ product_id: productId, quantity: 1 }],
    delivery: { method: 'pickup', recipient_name: 'Anna Test' },
  });
  const orders = await mandate.orders.list({ limit: 1, user_id: userId }).toArray({ max: 2 });
  const product = await mandate.products.get(productId).withResponse();
  const unchanged = await mandate.products.get(productId, { ifNoneMatch: product.headers.get('etag') ?? '' });
  const csv = new TextEncoder().encode('sku,name,price,currency\nRUN-1,From a runtime,100,EUR\n');
  const openFile = (): ReadableStream<Uint8Array<ArrayBuffer>> =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(csv.slice(0, 20));
        controller.enqueue(csv.slice(20));
        controller.close();
      },
    });
  const task = await mandate.productImports.create(openFile, { dry_run: 'true' });
  await mandate.tasks.cancel(task.id);
  return { order: order.status, orders: orders.length > 0, unchanged: unchanged === undefined, import: task.status };
}

async function provokeFailures(mandate: Client, { redirectingUrl, silentUrl }: RuntimeInput) {
  const missing: unknown = await mandate.orders.get(987_654_321).catch((error: unknown) => error);
  const redirected: unknown = await createClient({ baseUrl: redirectingUrl, maxRetries: 0 })
    .orders.list()
    .catch((error: unknown) => error);
  const late: unknown = await createClient({ baseUrl: silentUrl, timeoutMs: 100, maxRetries: 1 })
    .products.list()
    .catch((error: unknown) => error);
  const aborting = new AbortController();
  setTimeout(() => aborting.abort(), 50);
  const aborted = await createClient({ baseUrl: silentUrl }).products.list({}, { signal: aborting.signal }).safe();
  return {
    missing: missing instanceof MandateError && missing instanceof ApiError && missing.code,
    redirected: redirected instanceof DecodeError && redirected.code,
    late: late instanceof TimeoutError && late.code,
    aborted: aborted.ok || aborted.error.code,
  };
}

async function receiveEvent(mandate: Client): Promise<string | undefined> {
  for await (const event of followEvents(mandate, { type: ['order.created'] })) return event.type;
  return undefined;
}

async function receiveWebhook(): Promise<string> {
  const secret = 'whsec_c2VjcmV0LW9mLWF0LWxlYXN0LTI0LWJ5dGVz';
  const body = JSON.stringify({ id: 1, type: 'order.paid' });
  return (await verifyWebhook(body, new Headers(await signWebhook('msg_1', body, secret)), secret)).type;
}

async function startServerSignIn({ apiUrl, clientId, clientSecret, token }: RuntimeInput) {
  const signIn = createServerSignIn({
    issuer: apiUrl,
    clientId,
    clientSecret,
    redirectUri: 'https://app.example/auth/callback',
    scopes: ['orders.read'],
    cookieSecrets: ['a secret of at least thirty-two characters'],
  });
  // A browser hides Set-Cookie headers from scripts.
  if (token !== undefined) return 'redirects, no session';
  const response = await signIn.startSignIn(new Request('https://app.example/auth/sign-in?return_to=/cart'));
  const redirects = response.status === 303 && response.headers.get('location')?.startsWith(`${apiUrl}/oauth/authorize?`);
  const cookie = response.headers.get('set-cookie') ?? '';
  const session = await signIn.openSession(new Request('https://app.example/', { headers: { cookie: cookie.split(';')[0] ?? '' } }));
  return redirects && cookie.startsWith('__Host-mandate-session-sign-in=') && !session.signedIn ? 'redirects, no session' : cookie;
}
