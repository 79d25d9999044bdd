import { idTokenSigningAlgorithms } from '@mandate/contract';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAuthorizationServer } from '../../../server/oauth/authorization-server.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { useServer } from '../../support/server/use-server.ts';
import { buildAuthorizationRequest, authorizationPath } from '../../support/oauth/oauth-flow.ts';
import { testServerSecret } from '../../support/server/test-server-secret.ts';

const server = useServer();

type RawResponse = { readonly status: number; readonly text: string; readonly cookies: readonly string[] };

/** Sends a request with headers that `fetch` does not allow, such as Host. */
const sendRaw = (path: string, headers: Record<string, string>, port = Number(new URL(server.origin).port)): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { host: `localhost:${port}`, ...headers } }, (response) => {
      let text = JSON.stringify(response.headers);
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, cookies: response.headers['set-cookie'] ?? [] }));
    });
    sent.on('error', reject).end();
  });
const metadataPaths = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];
const metadata = z.record(z.unknown());
const readMetadata = async (path: string) => metadata.parse(await (await fetch(server.origin + path)).json());

test('both metadata documents are equal and have the same issuer (90)', async () => {
  const [openid, oauth] = await Promise.all(metadataPaths.map(readMetadata));
  expect(oauth).toEqual(openid);
  expect(openid).toMatchObject({
    issuer: server.origin,
    authorization_endpoint: `${server.origin}/oauth/authorize`,
    token_endpoint: `${server.origin}/oauth/token`,
    revocation_endpoint: `${server.origin}/oauth/revocation`,
    introspection_endpoint: `${server.origin}/oauth/introspection`,
    userinfo_endpoint: `${server.origin}/oauth/userinfo`,
    jwks_uri: `${server.origin}/oauth/jwks`,
    end_session_endpoint: `${server.origin}/oauth/logout`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  expect(new Set(z.array(z.string()).parse(openid?.['id_token_signing_alg_values_supported']))).toEqual(new Set(idTokenSigningAlgorithms));
  expect(openid?.['scopes_supported']).toEqual(expect.arrayContaining(['openid', 'offline_access', 'orders.read', 'orders.write']));
});

test('only the code flow is supported (12)', async () => {
  const configuration = await readMetadata('/.well-known/openid-configuration');
  expect(configuration['response_types_supported']).toEqual(['code']);
  expect(configuration['grant_types_supported']).toEqual(expect.not.arrayContaining(['implicit', 'password']));
});

test('the JWKS contains only public keys (92)', async () => {
  const { keys } = z.object({ keys: z.array(metadata) }).parse(await readMetadata('/oauth/jwks'));
  expect(new Set(keys.map(({ alg }) => alg))).toEqual(new Set(idTokenSigningAlgorithms));
  for (const key of keys) expect(Object.keys(key)).toEqual(expect.not.arrayContaining(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']));
});

describe('the host', () => {
  const paths = [...metadataPaths, '/sign-in', '/sign-up', '/account', authorizationPath(buildAuthorizationRequest().query)];

  test.each(paths)('in a wrong Host header is rejected: %s (91)', async (path) => {
    const response = await sendRaw(path, { host: 'evil.example' });
    expect(response.status).toBe(421);
    expect(response.text).not.toContain('evil');
  });

  test.each(paths)('in forwarded headers of a proxy is ignored: %s (91)', async (path) => {
    const response = await sendRaw(path, {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    });
    expect(response.status).toBeLessThan(400);
    expect(response.text).not.toMatch(/evil|https:\/\/localhost/);
  });
});

test('behind a proxy that terminates TLS, every URL is HTTPS and every cookie is secure', async () => {
  const app = express();
  const httpServer = createServer(app).listen(0, '127.0.0.1');
  await once(httpServer, 'listening');
  const { router } = await createAuthorizationServer({
    db: server.db,
    issuer: 'https://shop.example',
    keys: deriveKeys(testServerSecret),
    log: { error: () => undefined },
  });
  app.use(router);
  const { port } = z.object({ port: z.number() }).parse(httpServer.address());
  const configuration = await sendRaw('/.well-known/openid-configuration', { host: 'shop.example' }, port);
  expect(configuration.text).toContain('"token_endpoint":"https://shop.example/oauth/token"');
  expect(configuration.text).not.toContain('http://');
  for (const path of ['/sign-in', authorizationPath(buildAuthorizationRequest().query)]) {
    const cookies = (await sendRaw(path, { host: 'shop.example' }, port)).cookies;
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/; secure/i);
  }
  httpServer.closeAllConnections();
  httpServer.close();
});

test('CORS headers allow other sites to read the JWKS but not the authorization endpoint (93)', async () => {
  const headers = { origin: 'https://elsewhere.example' };
  const page = await fetch(`${server.origin}${authorizationPath(buildAuthorizationRequest().query)}`, { headers, redirect: 'manual' });
  expect(page.headers.get('access-control-allow-origin')).toBeNull();
  const keys = await fetch(`${server.origin}/oauth/jwks`, { headers });
  expect(keys.headers.get('access-control-allow-origin')).toBe('https://elsewhere.example');
  expect(keys.headers.get('access-control-allow-credentials')).toBeNull();
});
