import { expect, test } from 'vitest';
import { createClient, debugFetch, debugLog } from '@mandate/client-sdk';
import { discover, memoryStore, newProofKey, refreshingTokens, revoke } from '@mandate/client-sdk/authorization';
import { signInOnLoopback } from '@mandate/client-sdk/authorization/node';
import { startMandateServer } from '../../support/server/start-mandate.ts';
import { cliClient, signUp } from '../../support/oauth/oauth-flow.ts';
import { createTestShop, buildOrderInput } from '../../support/shop/test-shop.ts';
import { startStubServer } from '../stub-server.ts';

test('a debug log of a complete session shows all requests and no secret', async () => {
  const mandate = await startMandateServer();
  const shop = await createTestShop(mandate);
  const anna = await signUp(mandate.origin);
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const secrets = new Set<string>();
  /** Sends a request and collects all values sent in fields that contain secrets. */
  const watching = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    for (const name of ['authorization', 'dpop']) secrets.add(headers.get(name)?.split(' ').at(-1) ?? '');
    const form = init.body instanceof URLSearchParams ? [...init.body] : [];
    for (const [name, value] of form) if (/token|code|secret/.test(name) && !name.endsWith('_hint')) secrets.add(value);
    const response = await fetch(url, init);
    const body = await response.clone().text();
    for (const [, value = ''] of body.matchAll(/"(?:access_token|refresh_token|id_token|key|client_secret)":"([^"]+)"/g))
      secrets.add(value);
    return response;
  };
  const logged = debugFetch(write, watching);
  const proofKey = await newProofKey();
  const server = await discover(mandate.origin, { fetch: logged, proofKey });
  const tokens = await signInOnLoopback(server, {
    clientId: cliClient.clientId,
    scopes: ['openid', 'offline_access', 'users.read', 'users.write', 'orders.read', 'orders.write', 'payments.read', 'payments.write'],
    open: async (url) => {
      const { externalRedirect: leaves } = await anna.browser.submit(await anna.browser.open(url), { decision: 'allow' });
      await fetch(leaves ?? '');
    },
  });
  const store = memoryStore({ ...tokens, expiresAt: 0 });
  const auth = refreshingTokens({ issuer: mandate.origin, clientId: cliClient.clientId, store, proofKey, fetch: logged });
  const client = createClient({ baseUrl: mandate.origin, auth, fetch: watching }).use(debugLog(write));
  const product = await shop.createProduct();
  const order = await client.orders.create(buildOrderInput([product, 1]));
  await client.orders.get(order.id + 1).safe();
  await createClient({ baseUrl: mandate.origin, auth: shop.token, fetch: watching }).use(debugLog(write)).products.get(product.id);
  await revoke(server, cliClient.clientId, (await store.read())?.refreshToken ?? '');
  await mandate.close();

  const log = lines.join('\n');
  secrets.delete('');
  secrets.add(shop.token);
  expect(secrets.size).toBeGreaterThan(8);
  expect([...secrets].filter((secret) => log.includes(secret))).toEqual([]);
  expect(log).toContain(`> POST ${mandate.origin}/oauth/token`);
  expect(log).toContain('refresh_token=***&grant_type=refresh_token');
  expect(log).toMatch(/> POST \S+\/api\/v1\/orders \(orders\.create\)/);
  expect(log).toMatch(/< 404 in \d+ ms .*"code":"not_found"/);
});

test('secrets in URLs and bodies of the API are masked as well', async () => {
  const created = { id: 1, key: 'mk_abc', client_secret: 'hush', code: 'collection', nested: [{ access_token: 'eyJhbGciOi.eyJ.sig' }] };
  await using server = await startStubServer(() => ({
    status: 201,
    body: created,
    headers: { 'set-cookie': 'session=abc', 'x-other': 'Bearer abc' },
  }));
  const lines: string[] = [];
  const client = createClient({ baseUrl: server.url }).use(debugLog((line) => lines.push(line)));
  const query = { code: 'Xy01', state: 'kept', id_token_hint: 'abc' };
  await client.request({ method: 'POST', path: '/x', query, body: { password: 'abc', note: 'whsec_AbC=' } });
  expect(lines.join('\n')).not.toMatch(/abc|hush|Xy01|eyJ|AbC/);
  expect(lines[0]).toContain('state=kept');
  expect(lines[1]).toContain('"code":"collection"');
});

test('the caller gets the same response and the same error', async () => {
  await using server = await startStubServer((_, count) => (count === 1 ? { body: { id: 1 } } : { body: {}, cut: 'before' }));
  const lines: string[] = [];
  const client = createClient({ baseUrl: server.url, maxRetries: 0 }).use(debugLog((line) => lines.push(line)));
  expect(await client.orders.get(1)).toEqual({ id: 1 });
  await expect(client.orders.get(1)).rejects.toMatchObject({ code: 'connection_failed' });
  expect(lines.at(-1)).toMatch(/^< no response after \d+ ms: ConnectionError/);
});
