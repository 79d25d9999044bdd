import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createPublicAddressesOnlyNetworkPolicy } from '../../../server/outgoing-http/ssrf-protected-connection.ts';
import { ClientKeyCache } from '../../../server/oauth/clients/client-key-cache.ts';
import {
  createApplicationWithKeys,
  createClientAssertion,
  createClientKey,
  toAssertionForm,
} from '../../support/oauth/client-assertion.ts';
import { ClientMetadataFixture, createDocumentPath } from '../../support/oauth/client-metadata-fixture.ts';
import { authorizationPath, buildAuthorizationRequest, sendTokenRequest } from '../../support/oauth/oauth-flow.ts';
import { createRequestObject } from '../../support/application-keys/request-object.ts';

const shop = new ClientMetadataFixture();
const jsonHeaders = { 'content-type': 'application/jwk-set+json' };
const errorSchema = z.object({ error: z.string(), error_description: z.string() });

const serveKeys =
  (keys: readonly object[], headers: Record<string, string> = {}) =>
  (res: ServerResponse): void =>
    void res.writeHead(200, { ...jsonHeaders, ...headers }).end(JSON.stringify({ keys }));
const publish = (path: string, keys: readonly object[], headers: Record<string, string> = {}): string =>
  shop.metadataServer.serve(path, serveKeys(keys, headers));
const countFetches = (path: string): number => shop.metadataServer.requestedPaths.filter((requested) => requested === path).length;

describe('an application with jwks_uri', () => {
  const createClient = (jwksUri: string): Promise<string> => createApplicationWithKeys(shop.mandate.db, { jwksUri });
  const requestTokens = async (clientId: string, key: Awaited<ReturnType<typeof createClientKey>>): Promise<Response> => {
    const assertion = await createClientAssertion(key, { clientId, audience: shop.mandate.origin });
    return sendTokenRequest(shop.mandate.origin, { grant_type: 'client_credentials', ...toAssertionForm(assertion) });
  };

  test('is authenticated with a key that it publishes; the key set is fetched once for many requests', async () => {
    const [path, key] = [createDocumentPath(), await createClientKey()];
    const clientId = await createClient(publish(path, [key.jwk]));
    const responses = await Promise.all([requestTokens(clientId, key), requestTokens(clientId, key), requestTokens(clientId, key)]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await requestTokens(clientId, key)).status).toBe(200);
    expect(countFetches(path)).toBe(1);
  });

  test('is not fetched for requests without an assertion', async () => {
    const path = createDocumentPath();
    const clientId = await createClient(publish(path, [(await createClientKey()).jwk]));
    const form = { grant_type: 'client_credentials', client_id: clientId };
    expect((await sendTokenRequest(shop.mandate.origin, form)).status).toBe(401);
    expect(countFetches(path)).toBe(0);
  });

  test('signs its authorization requests with a key that it publishes', async () => {
    const [path, key, redirectUri] = [createDocumentPath(), await createClientKey(), 'https://app.example/callback'];
    const application = { grantTypes: ['authorization_code'], redirectUris: [redirectUri], scopes: ['orders.read'] } as const;
    const clientId = await createApplicationWithKeys(shop.mandate.db, { jwksUri: publish(path, [key.jwk]) }, application);
    const { query } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri });
    const open = async (signer: typeof key): Promise<string> => {
      const request = await createRequestObject(signer, shop.mandate.origin, query);
      const response = await fetch(shop.mandate.origin + authorizationPath({ client_id: clientId, request }), { redirect: 'manual' });
      return `${response.status} ${response.headers.get('location') ?? ''}`;
    };
    expect(await open(key)).toContain('303 ');
    expect(await open(key)).toContain('/sign-in/');
    expect(await open(await createClientKey('ES256', key.kid))).not.toContain('/sign-in/');
    expect(countFetches(path)).toBe(1);
  });

  test('gets an error that explains why its keys cannot be used', async () => {
    const key = await createClientKey();
    const clientId = await createClient(shop.metadataServer.url('/missing-keys.json'));
    const response = await requestTokens(clientId, key);
    expect([response.status, errorSchema.parse(await response.json())]).toEqual([
      401,
      {
        error: 'invalid_client',
        error_description: expect.stringMatching(
          /^jwks_uri: the response has the status 404, not 200; redirects are not followed \(the server requests it again in \d+ seconds\)$/,
        ),
      },
    ]);
  });
});

describe('the cached key set', () => {
  const minute = 60_000;
  const createCache = () => {
    const clock = { now: Date.now() };
    const cache = new ClientKeyCache(shop.metadataServer.networkPolicy, () => clock.now);
    const load = (jwksUri: string, kid: string | undefined, clientId = 'some-client') => cache.load({ clientId, jwksUri, kid });
    const loadKids = async (jwksUri: string, kid: string | undefined) => (await load(jwksUri, kid)).map((key) => key.kid);
    return { clock, load, loadKids };
  };
  let first: Awaited<ReturnType<typeof createClientKey>>;
  let second: typeof first;
  beforeAll(async () => {
    [first, second] = [await createClientKey('ES256', 'first'), await createClientKey('PS256', 'second')];
  });

  test('is refetched at most once per minute because of an unknown key ID', async () => {
    const { clock, loadKids } = createCache();
    const path = createDocumentPath();
    const url = publish(path, [first.jwk], { 'cache-control': 'max-age=86400' });
    expect(await loadKids(url, 'first')).toEqual(['first']);
    publish(path, [first.jwk, second.jwk]);
    for (let n = 0; n < 5; n += 1) expect(await loadKids(url, `unknown-${n}`)).toEqual(['first']);
    expect(countFetches(path)).toBe(1);
    clock.now += minute;
    expect(await loadKids(url, 'second')).toEqual(['first', 'second']);
    for (let n = 0; n < 5; n += 1) expect(await loadKids(url, `unknown-${n}`)).toEqual(['first', 'second']);
    expect(countFetches(path)).toBe(2);
  });

  test('is refetched after a minute for assertions without a key ID', async () => {
    const { clock, loadKids } = createCache();
    const path = createDocumentPath();
    const url = publish(path, [first.jwk], { 'cache-control': 'max-age=86400' });
    await loadKids(url, undefined);
    await loadKids(url, undefined);
    expect(countFetches(path)).toBe(1);
    clock.now += minute;
    await loadKids(url, undefined);
    expect(countFetches(path)).toBe(2);
  });

  test('expires, so that a key that is no longer published is rejected', async () => {
    const { clock, loadKids } = createCache();
    const path = createDocumentPath();
    const url = publish(path, [first.jwk, second.jwk], { 'cache-control': 'max-age=600' });
    expect(await loadKids(url, 'first')).toEqual(['first', 'second']);
    publish(path, [second.jwk]);
    clock.now += 9 * minute;
    expect(await loadKids(url, 'first')).toEqual(['first', 'second']);
    clock.now += minute;
    expect(await loadKids(url, 'first')).toEqual(['second']);
  });

  test('remains usable for an hour after it has expired if its document cannot be fetched', async () => {
    const { clock, load, loadKids } = createCache();
    const path = createDocumentPath();
    const url = publish(path, [first.jwk], { 'cache-control': 'max-age=600' });
    await load(url, 'first');
    shop.metadataServer.serve(path, (res) => void res.writeHead(503).end());
    clock.now += 10 * minute;
    expect(await loadKids(url, 'first')).toEqual(['first']);
    await expect(load(url, 'second')).rejects.toThrow('status 503');
    clock.now += 60 * minute;
    await expect(load(url, 'first')).rejects.toThrow('status 503');
  });

  test('is fetched separately for each application, and a failure is remembered for a minute', async () => {
    const { clock, load } = createCache();
    const path = createDocumentPath();
    const url = shop.metadataServer.url(path);
    await expect(load(url, 'first')).rejects.toThrow('status 404, not 200; redirects are not followed (the server requests it again in 60');
    await expect(load(url, 'first')).rejects.toThrow('status 404');
    await expect(load(url, 'first', 'other-client')).rejects.toThrow('status 404');
    expect(countFetches(path)).toBe(2);
    publish(path, [first.jwk]);
    clock.now += minute;
    expect(await load(url, 'first')).toHaveLength(1);
  });

  const rsa = { kty: 'RSA', e: 'AQAB' };
  test.each<[string, (res: ServerResponse) => void, string]>([
    ['is a redirect', (res) => res.writeHead(302, { location: '/elsewhere.json' }).end(), 'redirects are not followed'],
    ['is an HTML page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('{}'), 'content type application/json'],
    ['is not JSON', (res) => res.writeHead(200, jsonHeaders).end('{'), 'not JSON'],
    ['has no keys', (res) => res.writeHead(200, jsonHeaders).end('{}'), 'keys must be a list of 1 to 100 keys'],
    ['has an empty list of keys', serveKeys([]), 'keys must be a list of 1 to 100 keys'],
    ['has only unusable keys', serveKeys([{ kty: 'oct' }, { ...rsa, n: 'AQ' }]), 'the key at position 1 has an unsupported type'],
    ['contains a private key', serveKeys([{ kty: 'RSA', n: 'AQ', e: 'AQAB', d: 'AQ' }]), 'contains private key members (d)'],
    ['is too large', (res) => res.writeHead(200, jsonHeaders).end(JSON.stringify({ x: 'x'.repeat(60_000) })), 'larger than 51200 bytes'],
    ['is never complete', (res) => void res.writeHead(200, jsonHeaders).write('{'), 'could not be fetched'],
  ])('is rejected when the document %s', { timeout: 30_000 }, async (_defect, handler, reason) => {
    const url = shop.metadataServer.serve(createDocumentPath(), handler);
    await expect(createCache().load(url, 'first')).rejects.toThrow(reason);
    expect(shop.metadataServer.requestedPaths).not.toContain('/elsewhere.json');
  });

  test('ignores keys for other purposes', async () => {
    const encryptionKey = { ...second.jwk, use: 'enc', kid: 'encryption' };
    const url = publish(createDocumentPath(), [{ kty: 'AKP', alg: 'ML-DSA-44' }, encryptionKey, first.jwk]);
    expect(await createCache().loadKids(url, 'first')).toEqual(['first']);
  });
});

test('the key set of a host with a private address is not fetched', async () => {
  const requestsBefore = shop.metadataServer.requestedPaths.length;
  const network = { ...createPublicAddressesOnlyNetworkPolicy(false), resolve: shop.metadataServer.networkPolicy.resolve };
  const cache = new ClientKeyCache(network);
  const lookup = { clientId: 'some-client', jwksUri: shop.metadataServer.url('/keys.json'), kid: 'first' };
  await expect(cache.load(lookup)).rejects.toThrow('the host has no public address');
  expect(shop.metadataServer.requestedPaths).toHaveLength(requestsBefore);
});
