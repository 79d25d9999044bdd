import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hasChromium, launchChromium } from '../../support/browser/chromium.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { obtainAuthorizationCode, cliClient, redeemCode, signUp, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';

const shop = withShop({ sampleData: false, openRegistration: true });

const origin = 'https://assistant.example';
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
const accept = 'application/json, text/event-stream';

const preflight = (path: string, method: string, headers: string): Promise<Response> =>
  fetch(shop.origin + path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
  });
const headerList = (response: Response, name: string): string[] =>
  (response.headers.get(`access-control-${name}`) ?? '').toLowerCase().split(/,\s*/);

describe('a preflight from another origin', () => {
  test.each([
    ['/mcp', 'POST', 'authorization,content-type,dpop,mcp-protocol-version,mcp-session-id,mcp-method,mcp-name,last-event-id'],
    ['/.well-known/oauth-protected-resource/mcp', 'GET', 'mcp-protocol-version'],
    ['/.well-known/oauth-protected-resource/api', 'GET', 'mcp-protocol-version'],
    ['/.well-known/oauth-authorization-server', 'GET', 'mcp-protocol-version'],
    ['/.well-known/openid-configuration', 'GET', 'mcp-protocol-version'],
    ['/oauth/token', 'POST', 'content-type,dpop'],
    ['/oauth/registration', 'POST', 'content-type,authorization'],
  ])('is accepted at %s, without credentials', async (path, method, headers) => {
    const response = await preflight(path, method, headers);
    expect(response.status).toBe(204);
    expect(['*', origin]).toContain(response.headers.get('access-control-allow-origin'));
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(headerList(response, 'allow-methods')).toContain(method.toLowerCase());
    expect(headerList(response, 'allow-headers')).toEqual(expect.arrayContaining(headers.split(',')));
  });

  test('is followed by a readable challenge with metadata URL and scopes', async () => {
    const response = await fetch(`${shop.origin}/mcp`, { method: 'POST', headers: { origin, accept }, body: list });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    expect(headerList(response, 'expose-headers')).toEqual(expect.arrayContaining(['www-authenticate', 'mcp-session-id']));
    const challenge = response.headers.get('www-authenticate') ?? '';
    expect(challenge).toContain(`resource_metadata="${shop.origin}/.well-known/oauth-protected-resource/mcp"`);
    const scopes = /scope="([^"]+)"/.exec(challenge)?.[1]?.split(' ') ?? [];
    const metadata: JsonBody = await (await fetch(`${shop.origin}/.well-known/oauth-protected-resource/mcp`)).json();
    expect(scopes).toEqual(['orders.read']);
    expect(metadata.scopes_supported).toEqual(expect.arrayContaining(['orders.read', 'orders.write', 'users.read']));
    for (const scope of ['users.manage', 'applications.manage', 'audit.read', 'api_keys.manage'])
      expect(metadata.scopes_supported).not.toContain(scope);
  });
});

test('a token is accepted only from pages of its application', async () => {
  const registration = { redirect_uris: [`${origin}/callback`], grant_types: ['authorization_code'], scope: 'orders.read' };
  const { client_id: clientId }: JsonBody = await (
    await fetch(`${shop.origin}/oauth/registration`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify(registration),
    })
  ).json();
  const resource = `${shop.origin}/mcp`;
  const tokenOf = async (request: Record<string, string>): Promise<string> => {
    const granted = await obtainAuthorizationCode(shop.origin, await signUp(shop.origin), {
      resource,
      scope: 'orders.read',
      ...request,
    });
    return tokenResponseSchema.parse(await (await redeemCode(shop.origin, granted)).json()).access_token;
  };
  const applicationToken = await tokenOf({ client_id: clientId, redirect_uri: `${origin}/callback` });
  const cliToken = await tokenOf({ client_id: cliClient.clientId });
  const statusFrom = async (from: string, token: string): Promise<number> => {
    const headers = { origin: from, accept, 'content-type': 'application/json', authorization: `Bearer ${token}` };
    return (await fetch(resource, { method: 'POST', headers, body: list })).status;
  };
  expect(await statusFrom(origin, applicationToken)).toBe(200);
  for (const from of ['https://evil.example', 'https://assistant.example:444', 'http://assistant.example', 'null'])
    expect(await statusFrom(from, applicationToken), from).toBe(403);
  expect(await statusFrom(origin, cliToken)).toBe(403);
});

describe.skipIf(!hasChromium)('an assistant in a web page', () => {
  let browser: Browser;
  let page: Page;
  let pageServer: Server;
  beforeAll(async () => {
    browser = await launchChromium();
    pageServer = createServer((_req, res) => res.setHeader('Content-Type', 'text/html').end('<title>Assistant</title>'));
    pageServer.listen(0, '127.0.0.1');
    await once(pageServer, 'listening');
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${z.object({ port: z.number() }).parse(pageServer.address()).port}/`);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    pageServer?.close();
  });

  /** Sends a request from the page, and returns the parts of the response that scripts can read. */
  const call = (path: string, init: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
    page.evaluate(
      async ([url, options]) => {
        const response = await fetch(url, options);
        const text = await response.text();
        const data =
          text
            .split('\n')
            .find((one) => one.startsWith('data: '))
            ?.slice(6) ?? text;
        return { status: response.status, challenge: response.headers.get('www-authenticate'), body: JSON.parse(data) as unknown };
      },
      [shop.origin + path, init] as const,
    );
  const bodyOf = async (response: ReturnType<typeof call>): Promise<JsonBody> => (await response).body;

  test('discovers the server, registers, exchanges its code and lists the tools', async () => {
    const mcp = (headers: Record<string, string> = {}) =>
      call('/mcp', {
        method: 'POST',
        headers: { accept, 'content-type': 'application/json', 'mcp-protocol-version': '2025-06-18', ...headers },
        body: list,
      });
    const refused = await mcp();
    expect(refused).toMatchObject({ status: 401, challenge: expect.stringContaining('resource_metadata=') });
    const version = { headers: { 'mcp-protocol-version': '2025-06-18' } };
    const resource = await bodyOf(call('/.well-known/oauth-protected-resource/mcp', version));
    const server = await bodyOf(call('/.well-known/oauth-authorization-server', version));
    const redirectUri = `${new URL(page.url()).origin}/callback`;
    const registration = { redirect_uris: [redirectUri], application_type: 'native', scope: resource.scopes_supported.join(' ') };
    const { client_id: clientId } = await bodyOf(
      call(new URL(server.registration_endpoint).pathname, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(registration),
      }),
    );
    const person = await signUp(shop.origin);
    const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'orders.read', resource: resource.resource };
    const { code, verifier } = await obtainAuthorizationCode(shop.origin, person, request);
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
    const tokens = await call('/oauth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    });
    const { access_token: token } = tokenResponseSchema.parse(tokens.body);
    const tools = await mcp({ authorization: `Bearer ${token}` });
    expect(tools).toMatchObject({ status: 200, body: { result: { tools: expect.arrayContaining([expect.anything()]) } } });
  });
});
