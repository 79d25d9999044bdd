import { describe, expect, test } from 'vitest';
import { AbortError, ConnectionError } from '@mandate/client-sdk';
import { beginAuthorization, completeAuthorization, discover, revoke } from '@mandate/client-sdk/authorization';
import { startStubAuthorizationServer } from './stub-authorization-server.ts';
import { startStubServer } from '../stub-server.ts';

const application = { clientId: 'mandate-cli', redirectUri: 'http://127.0.0.1:5000/callback', scopes: ['openid', 'orders.read'] };

/** Returns the redirect URL. The stub server uses the PKCE challenge as the code. */
function callback(request: { url: string; state: string }, issuer: string, changes: Record<string, string> = {}): URL {
  const url = new URL(application.redirectUri);
  const code = new URL(request.url).searchParams.get('code_challenge') ?? '';
  for (const [name, value] of Object.entries({ code, state: request.state, iss: issuer, ...changes })) url.searchParams.set(name, value);
  return url;
}

describe('sign-in with the authorization code grant', () => {
  test('requests a code with a new PKCE challenge and a new state each time', async () => {
    await using server = await startStubAuthorizationServer();
    const found = await discover(server.url);
    const [first, second] = [await beginAuthorization(found, application), await beginAuthorization(found, application)];
    expect(Object.fromEntries(new URL(first.url).searchParams)).toMatchObject({
      client_id: 'mandate-cli',
      response_type: 'code',
      redirect_uri: application.redirectUri,
      scope: 'openid orders.read',
      code_challenge_method: 'S256',
      state: first.state,
    });
    expect(first.url).not.toContain(first.codeVerifier);
    expect(second.state).not.toBe(first.state);
    expect(second.codeVerifier).not.toBe(first.codeVerifier);
  });

  test('requests limits', async () => {
    await using server = await startStubAuthorizationServer();
    const details = { type: 'mandate_orders', limits: { currency: 'GBP', per_order: 5000 }, orders: 'own' } as const;
    const { url } = await beginAuthorization(await discover(server.url), { ...application, authorizationDetails: [details] });
    expect(JSON.parse(new URL(url).searchParams.get('authorization_details') ?? '')).toEqual([details]);
  });

  test('exchanges the code for tokens', async () => {
    await using server = await startStubAuthorizationServer();
    const found = await discover(server.url);
    const request = await beginAuthorization(found, application);
    const tokens = await completeAuthorization(found, request, callback(request, server.url));
    expect(tokens).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-1', scopes: ['orders.read'] });
    expect(tokens.expiresAt).toBeGreaterThan(Date.now() + 500_000);
  });

  test.each<[string, Record<string, string>]>([
    ['another state', { state: 'forged' }],
    ['another issuer', { iss: 'https://evil.example' }],
  ])('refuses %s before it uses the code', async (_, changes) => {
    await using server = await startStubAuthorizationServer();
    const found = await discover(server.url);
    const request = await beginAuthorization(found, application);
    const completed = completeAuthorization(found, request, callback(request, server.url, changes));
    await expect(completed).rejects.toMatchObject({ name: 'AuthorizationError', error: 'invalid_response' });
    expect(server.grants).toEqual([]);
  });

  test('reports that the user denied access', async () => {
    await using server = await startStubAuthorizationServer();
    const found = await discover(server.url);
    const request = await beginAuthorization(found, application);
    const completed = completeAuthorization(found, request, callback(request, server.url, { error: 'access_denied' }));
    await expect(completed).rejects.toMatchObject({ name: 'AuthorizationError', error: 'access_denied' });
  });

  test('distinguishes an abort from a server that does not respond', async () => {
    await using server = await startStubServer(() => ({ delayMs: 5000 }));
    await expect(discover(server.url, { signal: AbortSignal.timeout(50) })).rejects.toBeInstanceOf(AbortError);
    await expect(discover('http://127.0.0.1:9')).rejects.toBeInstanceOf(ConnectionError);
  });

  test('revokes a token', async () => {
    await using server = await startStubAuthorizationServer();
    await revoke(await discover(server.url), 'mandate-cli', 'refresh-1');
    expect(new URLSearchParams(server.seen.at(-1)?.body).get('token')).toBe('refresh-1');
  });
});
