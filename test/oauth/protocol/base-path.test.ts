import { once } from 'node:events';
import { createServer } from 'node:http';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { discover } from '@mandate/client-sdk/authorization';
import { createApp } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { createMigratedDatabase } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { openMailbox } from '../../support/services/mailbox.ts';
import { buildAuthorizationRequest, authorizationPath, completeSignUp, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';
import { testServerSecret } from '../../support/server/test-server-secret.ts';

const metadata = z.record(z.unknown());
const readMetadata = async (url: string) => {
  const response = await fetch(url);
  expect([url, response.status]).toEqual([url, 200]);
  return metadata.parse(await response.json());
};

describe('a server whose issuer has no path', () => {
  const server = useServer();

  test('publishes its resource metadata at the URL in the 401 challenge (85)', async () => {
    const refused = await fetch(`${server.origin}/api/v1/users/me`);
    const metadataUrl = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? '';
    expect(metadataUrl).toBe(`${server.origin}/.well-known/oauth-protected-resource/api`);
    expect(await readMetadata(metadataUrl)).toMatchObject({
      resource: `${server.origin}/api`,
      authorization_servers: [server.origin],
      bearer_methods_supported: ['header'],
      scopes_supported: expect.arrayContaining(['orders.read']),
    });
    const invalidTokenResponse = await fetch(`${server.origin}/api/v1/users/me`, { headers: { authorization: 'Bearer x' } });
    expect(invalidTokenResponse.headers.get('www-authenticate')).toContain(`resource_metadata="${metadataUrl}"`);
  });
});

describe('a server whose issuer has a path', () => {
  let issuer: string;
  let db: Database;
  let closeServer: () => Promise<void>;

  beforeAll(async () => {
    const port = await findFreePort();
    issuer = `http://localhost:${port}/shop`;
    db = await createMigratedDatabase();
    const keys = deriveKeys(testServerSecret);
    openMailbox(issuer, db, keys.mail);
    const app = await createApp({ db, issuer, keys, log: createLogger(false) });
    const server = createServer(app).listen(port, '127.0.0.1');
    await once(server, 'listening');
    closeServer = async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await db.close();
    };
  });
  afterAll(() => closeServer());
  const origin = () => new URL(issuer).origin;

  test('publishes the same metadata at the URLs of OAuth and OpenID Connect (90)', async () => {
    const documents = await Promise.all([
      readMetadata(`${origin()}/.well-known/oauth-authorization-server/shop`),
      readMetadata(`${origin()}/.well-known/openid-configuration/shop`),
      readMetadata(`${issuer}/.well-known/openid-configuration`),
      readMetadata(`${issuer}/.well-known/oauth-authorization-server`),
    ]);
    const [first] = documents;
    for (const document of documents) expect(document).toEqual(first);
    expect(first).toMatchObject({ issuer, token_endpoint: `${issuer}/oauth/token`, jwks_uri: `${issuer}/oauth/jwks` });
    const endpoints = Object.entries(first ?? {}).filter(([name]) => /_(endpoint|uri)$/.test(name));
    expect(endpoints.length).toBeGreaterThan(7);
    for (const [name, address] of endpoints) expect([name, String(address).startsWith(`${issuer}/oauth/`)]).toEqual([name, true]);
    expect(await readMetadata(`${origin()}/.well-known/oauth-protected-resource/shop/api`)).toMatchObject({
      resource: `${issuer}/api`,
      authorization_servers: [issuer],
    });
    expect((await fetch(`${origin()}/.well-known/openid-configuration`)).status).toBe(404);
  });

  test('supports sign-up, consent and API requests of the application', async () => {
    const browser = new HttpBrowser(origin());
    const { query, verifier } = buildAuthorizationRequest({ scope: 'openid users.read' });
    const signIn = await browser.open(`/shop${authorizationPath(query)}`);
    expect(signIn.url.pathname).toMatch(/^\/shop\/sign-in\//);
    const signUp = await browser.open(/<a href="([^"]*sign-up)"/.exec(signIn.text)?.[1] ?? '');
    expect(signUp.response.status).toBe(200);
    const person = { name: 'Anna Test', email: 'anna.path@example.com', password: 'correct horse battery' };
    const consent = await completeSignUp(issuer, browser, signUp, person);
    expect(consent.url.pathname).toMatch(/^\/shop\/consent\//);
    const { externalRedirect: leaves } = await browser.submit(consent, { decision: 'allow' });
    expect(leaves?.searchParams.get('iss')).toBe(issuer);
    const form = {
      grant_type: 'authorization_code',
      client_id: query['client_id'] ?? '',
      redirect_uri: query['redirect_uri'] ?? '',
      code: leaves?.searchParams.get('code') ?? '',
      code_verifier: verifier,
    };
    const tokenEndpointResponse = await fetch(`${issuer}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const tokens = tokenResponseSchema.parse(await tokenEndpointResponse.json());
    const fetchCurrentUser = (url: string) =>
      fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect((await fetchCurrentUser(issuer)).status).toBe(200);
    expect((await fetchCurrentUser(origin())).status).toBe(404);
    expect((await fetch(`${issuer}/account`, { redirect: 'manual' })).headers.get('location')).toBe('/shop/sign-in');
  });

  test('links only to URLs below its path', async () => {
    for (const path of ['/sign-in', '/sign-up', '/oauth/device']) {
      const text = await (await fetch(`${issuer}${path}`)).text();
      const links = [...text.matchAll(/ (?:href|action)="(\/[^"]*)"/g)].map(([, address]) => address ?? '');
      expect(links.length).toBeGreaterThan(0);
      for (const address of links) expect(address).toMatch(/^\/shop\//);
      for (const address of links.filter((one) => !one.includes('/oauth/'))) expect((await fetch(origin() + address)).status).toBe(200);
    }
  });

  test('is discovered by the SDK', async () => {
    expect((await discover(issuer, { allowInsecureRequests: true })).issuer).toBe(issuer);
  });
});
