import { once } from 'node:events';
import { createServer, request } from 'node:http';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAuthorizationServer } from '../../../server/oauth/authorization-server.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys.ts';
import { useServer } from '../../support/server/with-server.ts';
import { authorizationRequest, authorizePath } from '../../support/oauth/oauth-flow.ts';
import { secretOfTests } from '../../support/oauth/secret-hash.ts';

const server = useServer();

type Answer = { readonly status: number; readonly text: string; readonly cookies: readonly string[] };

/** With headers that `fetch` does not let one set. */
const ask = (path: string, headers: Record<string, string>, port = Number(new URL(server.origin).port)): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { host: `localhost:${port}`, ...headers } }, (response) => {
      let text = JSON.stringify(response.headers);
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, cookies: response.headers['set-cookie'] ?? [] }));
    });
    sent.on('error', reject).end();
  });
const documents = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];
const metadata = z.record(z.unknown());
const read = async (path: string) => metadata.parse(await (await fetch(server.origin + path)).json());

test('both documents say the same, beginning with the issuer (90)', async () => {
  const [openid, oauth] = await Promise.all(documents.map(read));
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
  expect(openid?.['id_token_signing_alg_values_supported']).toContain('RS256');
  expect(openid?.['scopes_supported']).toEqual(expect.arrayContaining(['openid', 'offline_access', 'orders.read', 'orders.write']));
});

test('only the code flow is offered (12)', async () => {
  const offered = await read('/.well-known/openid-configuration');
  expect(offered['response_types_supported']).toEqual(['code']);
  expect(offered['grant_types_supported']).toEqual(expect.not.arrayContaining(['implicit', 'password']));
});

test('the published keys are public (92)', async () => {
  const { keys } = z.object({ keys: z.array(metadata) }).parse(await read('/oauth/jwks'));
  expect(keys.map(({ alg }) => alg)).toEqual(['ES256', 'RS256']);
  for (const key of keys) expect(Object.keys(key)).toEqual(expect.not.arrayContaining(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']));
});

describe('the address', () => {
  const paths = [...documents, '/sign-in', '/sign-up', '/account', authorizePath(authorizationRequest().query)];

  test.each(paths)('of another host is refused: %s (91)', async (path) => {
    const answer = await ask(path, { host: 'evil.example' });
    expect(answer.status).toBe(421);
    expect(answer.text).not.toContain('evil');
  });

  test.each(paths)('is not what a proxy says it is: %s (91)', async (path) => {
    const answer = await ask(path, { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' });
    expect(answer.status).toBeLessThan(400);
    expect(answer.text).not.toMatch(/evil|https:\/\/localhost/);
  });
});

test('behind a proxy that ends TLS, every address is https and every cookie secure', async () => {
  const app = express();
  const secure = createServer(app).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const { router } = await createAuthorizationServer({
    db: server.db,
    issuer: 'https://shop.example',
    keys: deriveKeys(secretOfTests),
    log: { error: () => undefined },
  });
  app.use(router);
  const { port } = z.object({ port: z.number() }).parse(secure.address());
  const offered = await ask('/.well-known/openid-configuration', { host: 'shop.example' }, port);
  expect(offered.text).toContain('"token_endpoint":"https://shop.example/oauth/token"');
  expect(offered.text).not.toContain('http://');
  for (const path of ['/sign-in', authorizePath(authorizationRequest().query)]) {
    const cookies = (await ask(path, { host: 'shop.example' }, port)).cookies;
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/; secure/i);
  }
  secure.closeAllConnections();
  secure.close();
});

test('the authorization endpoint is not for scripts of other sites, the keys are for all (93)', async () => {
  const headers = { origin: 'https://elsewhere.example' };
  const page = await fetch(`${server.origin}${authorizePath(authorizationRequest().query)}`, { headers, redirect: 'manual' });
  expect(page.headers.get('access-control-allow-origin')).toBeNull();
  const keys = await fetch(`${server.origin}/oauth/jwks`, { headers });
  expect(keys.headers.get('access-control-allow-origin')).toBe('https://elsewhere.example');
  expect(keys.headers.get('access-control-allow-credentials')).toBeNull();
});
