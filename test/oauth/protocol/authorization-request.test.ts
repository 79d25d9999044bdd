import { describe, expect, test } from 'vitest';
import { apiAudienceFromIssuer } from '../../../server/oauth/protocol/endpoint-paths-and-audiences.ts';
import { useServer } from '../../support/server/use-server.ts';
import { HttpBrowser, type HtmlPage } from '../../support/browser/browser.ts';
import {
  buildAuthorizationRequest,
  authorizationPath,
  obtainAuthorizationCode,
  cliClient,
  redeemCode,
  signUp,
  tokenResponseSchema,
  createWebApplication,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

const openAuthorizationRequest = (parameters: Record<string, string>, browser = new HttpBrowser(server.origin)): Promise<HtmlPage> =>
  browser.open(authorizationPath(buildAuthorizationRequest(parameters).query));

const invalidLinkPage = '400 The application’s request is not valid';

/** Returns the error code in the redirect to the application, or the page's status and heading. */
function authorizationOutcome({ response, externalRedirect: leaves, text }: HtmlPage): string {
  if (!leaves) return `${response.status} ${/<h1>(.*?)<\/h1>/.exec(text)?.[1]}`;
  if (leaves.searchParams.get('iss') !== server.origin) return `a response without iss: ${leaves.href}`;
  return leaves.searchParams.get('error') ?? 'a code';
}

describe('redirect URI', () => {
  test.each([
    'http://127.0.0.1/callback/',
    'http://127.0.0.1/Callback',
    'http://127.0.0.1/callback?x=1',
    'http://127.0.0.1/callback#x',
    'http://127.0.0.1/x/../callback',
    'http://127.0.0.1/%63allback',
    'http://127.1/callback',
    'http://127.0.0.2/callback',
    'http://2130706433/callback',
    'http://user@127.0.0.1/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://127.0.0.1:99999/callback',
    'https://127.0.0.1/callback',
    'https://evil.example/callback',
    'javascript:alert(1)',
  ])('%s differs from the registered redirect URI and gets an error page without redirect (1)', async (uri) => {
    expect(authorizationOutcome(await openAuthorizationRequest({ redirect_uri: uri }))).toBe(invalidLinkPage);
  });

  test('is required, even if the application has a single redirect URI (3)', async () => {
    const { query } = buildAuthorizationRequest();
    delete query['redirect_uri'];
    expect(authorizationOutcome(await new HttpBrowser(server.origin).open(authorizationPath(query)))).toBe(invalidLinkPage);
  });

  test.each(['http://127.0.0.1:1024/callback', 'http://127.0.0.1:65535/callback', 'http://127.0.0.1/callback'])(
    'on the loopback interface may have any port: %s (4)',
    async (uri) => {
      expect((await openAuthorizationRequest({ redirect_uri: uri })).url.pathname).toMatch(/^\/sign-in\//);
    },
  );

  test('on the IPv6 loopback interface may have any port, and form-action allows it (5)', async () => {
    const client = await createWebApplication(server.db, [], 'http://[::1]/callback');
    const page = await openAuthorizationRequest({
      client_id: client.clientId,
      redirect_uri: 'http://[::1]:4711/callback',
      scope: 'openid',
    });
    expect(page.url.pathname).toMatch(/^\/sign-in\//);
    expect(page.response.headers.get('content-security-policy')).toContain("form-action 'self' http:");
  });

  test('with localhost does not match a redirect URI with 127.0.0.1 (6)', async () => {
    expect(authorizationOutcome(await openAuthorizationRequest({ redirect_uri: 'http://localhost:49152/callback' }))).toBe(invalidLinkPage);
    const client = await createWebApplication(server.db, [], 'http://localhost/callback');
    expect(
      authorizationOutcome(
        await openAuthorizationRequest({ client_id: client.clientId, redirect_uri: 'http://127.0.0.1/callback', scope: 'openid' }),
      ),
    ).toBe(invalidLinkPage);
  });

  test('of a web application must have the registered port (7)', async () => {
    const client = await createWebApplication(server.db, []);
    expect(
      authorizationOutcome(
        await openAuthorizationRequest({ client_id: client.clientId, redirect_uri: 'https://app.example:8443/callback', scope: 'openid' }),
      ),
    ).toBe(invalidLinkPage);
  });
});

test('an unknown client_id gets an error page that escapes the client_id (2)', async () => {
  const page = await openAuthorizationRequest({ client_id: '<img src=x onerror=alert(1)>' });
  expect(authorizationOutcome(page)).toBe(invalidLinkPage);
  expect(page.text).not.toContain('<img');
});

describe('PKCE', () => {
  test('is required for public and confidential applications (8, 9)', async () => {
    const client = await createWebApplication(server.db, []);
    for (const parameters of [{}, { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid' }]) {
      const { query } = buildAuthorizationRequest(parameters);
      delete query['code_challenge'];
      delete query['code_challenge_method'];
      const { externalRedirect: leaves } = await new HttpBrowser(server.origin).open(authorizationPath(query));
      expect(leaves?.searchParams.get('error')).toBe('invalid_request');
    }
  });

  test.each([
    ['plain', { code_challenge_method: 'plain' }],
    ['no method', { code_challenge_method: '' }],
    ['a challenge that is too short', { code_challenge: 'short' }],
    ['a challenge in another alphabet', { code_challenge: '+'.repeat(43) }],
  ])('rejects %s (10, 11)', async (_case, parameters) => {
    expect(authorizationOutcome(await openAuthorizationRequest(parameters))).toBe('invalid_request');
  });
});

test.each(['token', 'id_token', 'code id_token', 'none'])('the server rejects response_type=%s (12)', async (type) => {
  const { externalRedirect: leaves } = await openAuthorizationRequest({ response_type: type });
  expect(leaves?.toString()).toMatch(/error=unsupported_response_type/);
});

test('success and error responses contain iss (13) and return state byte for byte (14)', async () => {
  const anna = await signUp(server.origin);
  for (const state of ['ä 漢字 🎈 "\'<>&%00', 'x'.repeat(5000)]) {
    const { leaves } = await obtainAuthorizationCode(server.origin, anna, { state });
    expect(leaves.searchParams.get('state')).toBe(state);
    expect(leaves.searchParams.get('iss')).toBe(server.origin);
    const refused = await openAuthorizationRequest({ state, scope: 'openid', response_type: 'token' });
    expect(new URLSearchParams(refused.externalRedirect?.hash.slice(1) || refused.externalRedirect?.search).get('state')).toBe(state);
  }
});

test.each(['state', 'client_id', 'scope', 'redirect_uri', 'nonce'])('a NUL in %s never causes a server error (14)', async (name) => {
  const anna = await signUp(server.origin);
  const { response } = await openAuthorizationRequest({ [name]: 'a\0b' }, anna.browser);
  expect(response.status).toBeLessThan(500);
  expect(server.warnings).toEqual([]);
});

test.each(['scope', 'client_id', 'redirect_uri', 'state'])('the server rejects a repeated %s (15)', async (name) => {
  const anna = await signUp(server.origin);
  const { query } = buildAuthorizationRequest();
  const page = await anna.browser.open(`${authorizationPath(query)}&${name}=${encodeURIComponent(query[name] ?? '')}`);
  expect(page.externalRedirect?.searchParams.get('code') ?? null).toBeNull();
  expect(`${page.text}${page.externalRedirect?.search}`).toContain('invalid_request');
});

test('the server rejects scopes that the application may not request and drops unknown scopes (16)', async () => {
  const client = await createWebApplication(server.db, ['orders.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri };
  const { externalRedirect: leaves } = await openAuthorizationRequest({ ...request, scope: 'openid orders.write' });
  expect(leaves?.searchParams.get('error')).toBe('invalid_scope');
  const granted = await obtainAuthorizationCode(server.origin, await signUp(server.origin), { scope: 'openid users.read pets.read' });
  const tokens = tokenResponseSchema.parse(await (await redeemCode(server.origin, granted)).json());
  expect(tokens.scope).toBe('openid users.read');
});

test('an application without scopes gets no API scope (52)', async () => {
  const client = await createWebApplication(server.db, []);
  const { externalRedirect: leaves } = await openAuthorizationRequest({
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: 'openid orders.read',
  });
  expect(leaves?.searchParams.get('error')).toBe('invalid_scope');
});

test('the server rejects an unknown resource (17)', async () => {
  expect(authorizationOutcome(await openAuthorizationRequest({ resource: 'https://other.example/api' }))).toBe('invalid_target');
  expect((await openAuthorizationRequest({ resource: apiAudienceFromIssuer(server.origin) })).url.pathname).toMatch(/^\/sign-in\//);
});

describe('prompt', () => {
  test('none returns an error to the application and never shows a page (18)', async () => {
    expect(authorizationOutcome(await openAuthorizationRequest({ prompt: 'none' }))).toBe('login_required');
    const client = await createWebApplication(server.db, ['orders.read']);
    const anna = await signUp(server.origin);
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid orders.read', prompt: 'none' };
    expect((await openAuthorizationRequest(request, anna.browser)).externalRedirect?.searchParams.get('error')).toBe('consent_required');
    expect(authorizationOutcome(await openAuthorizationRequest({ prompt: 'none' }, anna.browser))).toBe('interaction_required');
  });

  test('login and max_age=0 require a new sign-in (19)', async () => {
    const anna = await signUp(server.origin);
    expect((await openAuthorizationRequest({ prompt: 'login' }, anna.browser)).url.pathname).toMatch(/^\/sign-in\//);
    expect((await openAuthorizationRequest({ max_age: '0' }, anna.browser)).url.pathname).toMatch(/^\/(sign-in|consent)\//);
  });

  test('"none login" and a negative max_age are rejected (21)', async () => {
    expect(authorizationOutcome(await openAuthorizationRequest({ prompt: 'none login' }))).toBe('invalid_request');
    expect(authorizationOutcome(await openAuthorizationRequest({ max_age: '-1' }))).toBe('invalid_request');
  });
});

test('the server rejects unsigned request objects, and does not fetch request objects (20)', async () => {
  expect(authorizationOutcome(await openAuthorizationRequest({ request_uri: 'https://evil.example/request' }))).toBe(
    'request_uri_not_supported',
  );
  expect(authorizationOutcome(await openAuthorizationRequest({ request: 'eyJhbGciOiJub25lIn0.e30.' }))).toBe('invalid_request_object');
});

test('the command line is registered as a public application on a new installation', async () => {
  const rows = await server.db.em
    .fork()
    .execute<{ type: string; redirect_uris: unknown }[]>('select type, redirect_uris from applications where client_id = ?', [
      cliClient.clientId,
    ]);
  expect(rows).toMatchObject([{ type: 'public' }]);
});
