import { describe, expect, test } from 'vitest';
import { apiAudience } from '../../../server/oauth/protocol/endpoints.ts';
import { useServer } from '../../support/server/with-server.ts';
import { Browser, type Page } from '../../support/browser/browser.ts';
import {
  authorizationRequest,
  authorizePath,
  authorize,
  commandLine,
  redeem,
  signUp,
  tokenResponse,
  webApplication,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

const ask = (given: Record<string, string>, browser = new Browser(server.origin)): Promise<Page> =>
  browser.open(authorizePath(authorizationRequest(given).query));

const refusedWithPage = '400 This link does not work';

/** How a request ended: with an error that the application is told, or with a page. */
function outcome({ response, leaves, text }: Page): string {
  if (!leaves) return `${response.status} ${/<h1>(.*?)<\/h1>/.exec(text)?.[1]}`;
  if (leaves.searchParams.get('iss') !== server.origin) return `an answer without issuer: ${leaves.href}`;
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
  ])('%s is not the registered one: a page, and no redirect (1)', async (uri) => {
    expect(outcome(await ask({ redirect_uri: uri }))).toBe(refusedWithPage);
  });

  test('is needed, even with one registered (3)', async () => {
    const { query } = authorizationRequest();
    delete query['redirect_uri'];
    expect(outcome(await new Browser(server.origin).open(authorizePath(query)))).toBe(refusedWithPage);
  });

  test.each(['http://127.0.0.1:1024/callback', 'http://127.0.0.1:65535/callback', 'http://127.0.0.1/callback'])(
    'on the loopback interface has any port: %s (4)',
    async (uri) => {
      expect((await ask({ redirect_uri: uri })).url.pathname).toMatch(/^\/sign-in\//);
    },
  );

  test('on the IPv6 loopback interface has any port, and its form may lead there (5)', async () => {
    const client = await webApplication(server.db, [], 'http://[::1]/callback');
    const page = await ask({ client_id: client.clientId, redirect_uri: 'http://[::1]:4711/callback', scope: 'openid' });
    expect(page.url.pathname).toMatch(/^\/sign-in\//);
    expect(page.response.headers.get('content-security-policy')).toContain("form-action 'self' http:");
  });

  test('with localhost is not the one with 127.0.0.1 (6)', async () => {
    expect(outcome(await ask({ redirect_uri: 'http://localhost:49152/callback' }))).toBe(refusedWithPage);
    const client = await webApplication(server.db, [], 'http://localhost/callback');
    expect(outcome(await ask({ client_id: client.clientId, redirect_uri: 'http://127.0.0.1/callback', scope: 'openid' }))).toBe(
      refusedWithPage,
    );
  });

  test('of a website has no free port (7)', async () => {
    const client = await webApplication(server.db, []);
    expect(outcome(await ask({ client_id: client.clientId, redirect_uri: 'https://app.example:8443/callback', scope: 'openid' }))).toBe(
      refusedWithPage,
    );
  });
});

test('an unknown application gets a page, which repeats nothing as markup (2)', async () => {
  const page = await ask({ client_id: '<img src=x onerror=alert(1)>' });
  expect(outcome(page)).toBe(refusedWithPage);
  expect(page.text).not.toContain('<img');
});

describe('PKCE', () => {
  test('is needed, for public and confidential applications (8, 9)', async () => {
    const client = await webApplication(server.db, []);
    for (const given of [{}, { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid' }]) {
      const { query } = authorizationRequest(given);
      delete query['code_challenge'];
      delete query['code_challenge_method'];
      const { leaves } = await new Browser(server.origin).open(authorizePath(query));
      expect(leaves?.searchParams.get('error')).toBe('invalid_request');
    }
  });

  test.each([
    ['plain', { code_challenge_method: 'plain' }],
    ['no method', { code_challenge_method: '' }],
    ['a challenge that is too short', { code_challenge: 'short' }],
    ['a challenge in another alphabet', { code_challenge: '+'.repeat(43) }],
  ])('refuses %s (10, 11)', async (_what, given) => {
    expect(outcome(await ask(given))).toBe('invalid_request');
  });
});

test.each(['token', 'id_token', 'code id_token', 'none'])('refuses response_type=%s (12)', async (type) => {
  const { leaves } = await ask({ response_type: type });
  expect(leaves?.toString()).toMatch(/error=unsupported_response_type/);
});

test('success and error name the issuer (13), and give the state back byte for byte (14)', async () => {
  const anna = await signUp(server.origin);
  for (const state of ['ä 漢字 🎈 "\'<>&%00', 'x'.repeat(5000)]) {
    const { leaves } = await authorize(server.origin, anna, { state });
    expect(leaves.searchParams.get('state')).toBe(state);
    expect(leaves.searchParams.get('iss')).toBe(server.origin);
    const refused = await ask({ state, scope: 'openid', response_type: 'token' });
    expect(new URLSearchParams(refused.leaves?.hash.slice(1) || refused.leaves?.search).get('state')).toBe(state);
  }
});

test.each(['state', 'client_id', 'scope', 'redirect_uri', 'nonce'])('a NUL in %s never breaks the server (14)', async (name) => {
  const anna = await signUp(server.origin);
  const { response } = await ask({ [name]: 'a\0b' }, anna.browser);
  expect(response.status).toBeLessThan(500);
  expect(server.failures).toEqual([]);
});

test.each(['scope', 'client_id', 'redirect_uri', 'state'])('refuses a repeated %s (15)', async (name) => {
  const anna = await signUp(server.origin);
  const { query } = authorizationRequest();
  const page = await anna.browser.open(`${authorizePath(query)}&${name}=${encodeURIComponent(query[name] ?? '')}`);
  expect(page.leaves?.searchParams.get('code') ?? null).toBeNull();
  expect(`${page.text}${page.leaves?.search}`).toContain('invalid_request');
});

test('refuses a scope beyond the ceiling of the application, and drops what it does not know (16)', async () => {
  const client = await webApplication(server.db, ['orders.read']);
  const request = { client_id: client.clientId, redirect_uri: client.redirectUri };
  const { leaves } = await ask({ ...request, scope: 'openid orders.write' });
  expect(leaves?.searchParams.get('error')).toBe('invalid_scope');
  const granted = await authorize(server.origin, await signUp(server.origin), { scope: 'openid users.read pets.read' });
  const tokens = tokenResponse.parse(await (await redeem(server.origin, granted)).json());
  expect(tokens.scope).toBe('openid users.read');
});

test('an application without scopes gets none of the API (52)', async () => {
  const client = await webApplication(server.db, []);
  const { leaves } = await ask({ client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid orders.read' });
  expect(leaves?.searchParams.get('error')).toBe('invalid_scope');
});

test('refuses a resource that it does not know (17)', async () => {
  expect(outcome(await ask({ resource: 'https://other.example/api' }))).toBe('invalid_target');
  expect((await ask({ resource: apiAudience(server.origin) })).url.pathname).toMatch(/^\/sign-in\//);
});

describe('prompt', () => {
  test('none answers with an error, never with a page (18)', async () => {
    expect(outcome(await ask({ prompt: 'none' }))).toBe('login_required');
    const client = await webApplication(server.db, ['orders.read']);
    const anna = await signUp(server.origin);
    const request = { client_id: client.clientId, redirect_uri: client.redirectUri, scope: 'openid orders.read', prompt: 'none' };
    expect((await ask(request, anna.browser)).leaves?.searchParams.get('error')).toBe('consent_required');
    expect(outcome(await ask({ prompt: 'none' }, anna.browser))).toBe('interaction_required');
  });

  test('login, and max_age=0, ask for the password again (19)', async () => {
    const anna = await signUp(server.origin);
    expect((await ask({ prompt: 'login' }, anna.browser)).url.pathname).toMatch(/^\/sign-in\//);
    expect((await ask({ max_age: '0' }, anna.browser)).url.pathname).toMatch(/^\/(sign-in|consent)\//);
  });

  test('in an impossible combination, and a negative max_age, are refused (21)', async () => {
    expect(outcome(await ask({ prompt: 'none login' }))).toBe('invalid_request');
    expect(outcome(await ask({ max_age: '-1' }))).toBe('invalid_request');
  });
});

test('refuses request objects, and fetches nothing (20)', async () => {
  expect(outcome(await ask({ request_uri: 'https://evil.example/request' }))).toBe('request_uri_not_supported');
  expect(outcome(await ask({ request: 'eyJhbGciOiJub25lIn0.e30.' }))).toBe('request_not_supported');
});

test('the registered command line is there from the start, and public', async () => {
  const rows = await server.db.em
    .fork()
    .execute<{ type: string; redirect_uris: unknown }[]>('select type, redirect_uris from applications where client_id = ?', [
      commandLine.clientId,
    ]);
  expect(rows).toMatchObject([{ type: 'public' }]);
});
