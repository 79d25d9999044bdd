import { once } from 'node:events';
import { createServer } from 'node:http';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { discover } from '@mandate/client-sdk/authorization';
import { createApp } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { createLog } from '../../../server/logging/logger.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys.ts';
import { Browser } from '../../support/browser/browser.ts';
import { freshDatabase } from '../../support/services/database.ts';
import { freePort } from '../../support/network/free-port.ts';
import { openMailbox } from '../../support/services/mailbox.ts';
import { authorizationRequest, authorizePath, completeSignUp, tokenResponse } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/with-server.ts';
import { secretOfTests } from '../../support/oauth/secret-hash.ts';

const metadata = z.record(z.unknown());
const read = async (url: string) => {
  const response = await fetch(url);
  expect([url, response.status]).toEqual([url, 200]);
  return metadata.parse(await response.json());
};

describe('a server that has the host for itself', () => {
  const server = useServer();

  test('describes its API where a 401 says (85)', async () => {
    const refused = await fetch(`${server.origin}/api/v1/users/me`);
    const where = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? '';
    expect(where).toBe(`${server.origin}/.well-known/oauth-protected-resource/api`);
    expect(await read(where)).toMatchObject({
      resource: `${server.origin}/api`,
      authorization_servers: [server.origin],
      bearer_methods_supported: ['header'],
      scopes_supported: expect.arrayContaining(['orders.read']),
    });
    const bad = await fetch(`${server.origin}/api/v1/users/me`, { headers: { authorization: 'Bearer x' } });
    expect(bad.headers.get('www-authenticate')).toContain(`resource_metadata="${where}"`);
  });
});

describe('a server that lives below a path', () => {
  let issuer: string;
  let db: Database;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const port = await freePort();
    issuer = `http://localhost:${port}/shop`;
    db = await freshDatabase();
    const keys = deriveKeys(secretOfTests);
    openMailbox(issuer, db, keys.mail);
    const app = await createApp({ db, issuer, keys, log: createLog(false) });
    const server = createServer(app).listen(port, '127.0.0.1');
    await once(server, 'listening');
    close = async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await db.close();
    };
  });
  afterAll(() => close());
  const origin = () => new URL(issuer).origin;

  test('publishes its documents where either standard puts them, and means the same in all (90)', async () => {
    const documents = await Promise.all([
      read(`${origin()}/.well-known/oauth-authorization-server/shop`),
      read(`${origin()}/.well-known/openid-configuration/shop`),
      read(`${issuer}/.well-known/openid-configuration`),
      read(`${issuer}/.well-known/oauth-authorization-server`),
    ]);
    const [first] = documents;
    for (const document of documents) expect(document).toEqual(first);
    expect(first).toMatchObject({ issuer, token_endpoint: `${issuer}/oauth/token`, jwks_uri: `${issuer}/oauth/jwks` });
    const addresses = Object.entries(first ?? {}).filter(([name]) => /_(endpoint|uri)$/.test(name));
    expect(addresses.length).toBeGreaterThan(7);
    for (const [name, address] of addresses) expect([name, String(address).startsWith(`${issuer}/oauth/`)]).toEqual([name, true]);
    expect(await read(`${origin()}/.well-known/oauth-protected-resource/shop/api`)).toMatchObject({
      resource: `${issuer}/api`,
      authorization_servers: [issuer],
    });
    expect((await fetch(`${origin()}/.well-known/openid-configuration`)).status).toBe(404);
  });

  test('lets people sign up, allow an application, and the application in', async () => {
    const browser = new Browser(origin());
    const { query, verifier } = authorizationRequest({ scope: 'openid users.read' });
    const signIn = await browser.open(`/shop${authorizePath(query)}`);
    expect(signIn.url.pathname).toMatch(/^\/shop\/sign-in\//);
    const signUp = await browser.open(/<a href="([^"]*sign-up)"/.exec(signIn.text)?.[1] ?? '');
    expect(signUp.response.status).toBe(200);
    const person = { name: 'Anna Test', email: 'anna.path@example.com', password: 'correct horse battery' };
    const consent = await completeSignUp(issuer, browser, signUp, person);
    expect(consent.url.pathname).toMatch(/^\/shop\/consent\//);
    const { leaves } = await browser.submit(consent, { decision: 'allow' });
    expect(leaves?.searchParams.get('iss')).toBe(issuer);
    const form = {
      grant_type: 'authorization_code',
      client_id: query['client_id'] ?? '',
      redirect_uri: query['redirect_uri'] ?? '',
      code: leaves?.searchParams.get('code') ?? '',
      code_verifier: verifier,
    };
    const answer = await fetch(`${issuer}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const tokens = tokenResponse.parse(await answer.json());
    const me = (url: string) => fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect((await me(issuer)).status).toBe(200);
    expect((await me(origin())).status).toBe(404);
    expect((await fetch(`${issuer}/account`, { redirect: 'manual' })).headers.get('location')).toBe('/shop/sign-in');
  });

  test('names nothing beside its path in its pages', async () => {
    for (const path of ['/sign-in', '/sign-up', '/oauth/device']) {
      const text = await (await fetch(`${issuer}${path}`)).text();
      const linked = [...text.matchAll(/ (?:href|action)="(\/[^"]*)"/g)].map(([, address]) => address ?? '');
      expect(linked.length).toBeGreaterThan(0);
      for (const address of linked) expect(address).toMatch(/^\/shop\//);
      for (const address of linked.filter((one) => !one.includes('/oauth/'))) expect((await fetch(origin() + address)).status).toBe(200);
    }
  });

  test('is found by the SDK', async () => {
    expect((await discover(issuer, { allowInsecureRequests: true })).issuer).toBe(issuer);
  });
});
