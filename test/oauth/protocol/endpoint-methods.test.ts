import { describe, expect, test } from 'vitest';
import { oauthEndpointMethods, oauthEndpointPaths } from '../../../server/oauth/protocol/endpoint-paths-and-audiences.ts';
import { authorizationPath, buildAuthorizationRequest, signUp } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

describe.each(Object.values(oauthEndpointPaths))('%s', (path) => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s returns 405 with Allow exactly if the endpoint does not accept it',
    async (method) => {
      const response = await fetch(`${server.origin}${path}`, { method, redirect: 'manual' });
      const accepted = oauthEndpointMethods[path] ?? [];
      expect(response.status === 405).toBe(!accepted.includes(method));
      if (response.status !== 405) return;
      expect(response.headers.get('allow')).toBe(accepted.join(', '));
      expect(await response.json()).toEqual({
        error: 'invalid_request',
        error_description: `this endpoint accepts only ${accepted.join(', ')}`,
      });
    },
  );
});

describe('a form from another site', () => {
  const crossSite = { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' };
  const post = (path: string, body: string, headers = {}): Promise<Response> =>
    fetch(`${server.origin}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...crossSite, ...headers },
      body,
    });

  test.each([oauthEndpointPaths.authorization, oauthEndpointPaths.end_session])(
    'at %s is redirected to a GET request with every parameter',
    async (path) => {
      const response = await post(path, 'state=a%26b&nonce=%C3%A9+x&state=again');
      expect([response.status, response.headers.get('location'), response.headers.get('cache-control')]).toEqual([
        303,
        `${path}?state=a%26b&nonce=%C3%A9+x&state=again`,
        'no-store',
      ]);
    },
  );

  test('keeps the session of the browser', async () => {
    const { browser } = await signUp(server.origin);
    const { query } = buildAuthorizationRequest();
    const { headers } = await post(oauthEndpointPaths.authorization, new URLSearchParams(query).toString());
    expect(headers.get('location')).toBe(authorizationPath(query));
    const consent = await browser.open(headers.get('location') ?? '');
    expect(consent.url.pathname).toMatch(/^\/consent\//);
  });

  test.each([
    ['is too large', `state=${'x'.repeat(8_000)}`, {}],
    ['has an unknown encoding', 'state=x', { 'content-encoding': 'x-unknown' }],
    ['has an unknown character set', 'state=x', { 'content-type': 'application/x-www-form-urlencoded; charset=x-unknown' }],
  ])('that %s is rejected with the limit', async (_defect, body, headers) => {
    const response = await post(oauthEndpointPaths.authorization, body, headers);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      error_description: 'the body must be a form of at most 8000 bytes; larger requests can be pushed (RFC 9126)',
    });
  });
});
