import { describe, expect, test } from 'vitest';
import { createClient, SignInRequiredError } from '@mandate/client-sdk';
import { clientCredentials, memoryStore, refreshingTokens, type Tokens } from '@mandate/client-sdk/authorization';
import { startStubAuthorizationServer } from './stub-authorization-server.ts';

const expired: Tokens = { accessToken: 'old', expiresAt: 0, refreshToken: 'refresh-0', scopes: ['orders.read'] };
const valid: Tokens = { ...expired, expiresAt: Date.now() + 600_000 };

describe('client credentials', () => {
  const credentials = { clientId: 'shop', clientSecret: 'its secret', scopes: ['orders.read'] };

  test('concurrent calls share one token request', async () => {
    await using server = await startStubAuthorizationServer();
    const client = createClient({ baseUrl: server.url, auth: clientCredentials({ ...credentials, issuer: server.url }) });
    await Promise.all(Array.from({ length: 8 }, () => client.orders.get(1)));
    expect(server.grants).toEqual(['client_credentials']);
    const request = server.seen.find(({ url }) => url === '/token');
    expect(request?.headers.authorization).toMatch(/^Basic /);
    expect(new URLSearchParams(request?.body).get('scope')).toBe('orders.read');
  });

  test('requests a new token shortly before the current one expires', async () => {
    await using server = await startStubAuthorizationServer({ expiresIn: 59 });
    const client = createClient({ baseUrl: server.url, auth: clientCredentials({ ...credentials, issuer: server.url }) });
    await client.orders.get(1);
    await client.orders.get(1);
    expect(server.grants).toHaveLength(2);
  });

  test('rejects an authorization server with a different issuer', async () => {
    await using server = await startStubAuthorizationServer();
    const issuer = server.url.replace('127.0.0.1', 'localhost');
    const other = clientCredentials({ ...credentials, issuer: `${issuer}/tenant` });
    await expect(other.accessToken()).rejects.toMatchObject({ name: 'AuthorizationError', error: 'invalid_response' });
  });

  test('sends no secret over plain HTTP to another machine', async () => {
    const source = clientCredentials({ ...credentials, issuer: 'http://shop.example' });
    await expect(source.accessToken()).rejects.toThrow(/does not use https/);
  });
});

describe('refreshing tokens', () => {
  const clientOf = (url: string, store = memoryStore(expired)) =>
    createClient({ baseUrl: url, auth: refreshingTokens({ issuer: url, clientId: 'mandate-cli', store }) });

  test('concurrent calls refresh an expired token once', async () => {
    await using server = await startStubAuthorizationServer({ tokenDelayMs: 50 });
    const client = clientOf(server.url);
    await Promise.all(Array.from({ length: 8 }, () => client.orders.get(1)));
    expect(server.grants).toEqual(['refresh_token']);
  });

  test('concurrent calls refresh a rejected token once and are each retried once', async () => {
    await using server = await startStubAuthorizationServer({ tokenDelayMs: 50 });
    const client = clientOf(server.url, memoryStore(valid));
    await Promise.all(Array.from({ length: 8 }, () => client.orders.get(1)));
    expect(server.grants).toEqual(['refresh_token']);
    expect(server.seen.filter(({ url }) => url === '/api/v1/orders/1')).toHaveLength(16);
  });

  test('two sources with one store share refreshed tokens', async () => {
    await using server = await startStubAuthorizationServer({ tokenDelayMs: 50 });
    const store = memoryStore(expired);
    await Promise.all([clientOf(server.url, store).orders.get(1), clientOf(server.url, store).orders.get(1)]);
    expect(server.grants).toEqual(['refresh_token']);
  });

  test('a rotated refresh token is stored and used for the next refresh', async () => {
    await using server = await startStubAuthorizationServer({ expiresIn: 1 });
    const client = clientOf(server.url);
    await client.orders.get(1);
    await client.orders.get(1);
    expect(server.grants).toEqual(['refresh_token', 'refresh_token']);
  });

  test('a revoked grant requires a new sign-in, and the invalid refresh token is deleted', async () => {
    await using server = await startStubAuthorizationServer();
    const store = memoryStore({ ...expired, refreshToken: 'stolen' });
    await expect(clientOf(server.url, store).orders.get(1)).rejects.toBeInstanceOf(SignInRequiredError);
    expect(await store.read()).toEqual({ accessToken: 'old', expiresAt: 0, scopes: ['orders.read'] });
    await expect(clientOf(server.url, store).orders.get(1)).rejects.toBeInstanceOf(SignInRequiredError);
    expect(server.grants).toHaveLength(1);
  });

  test('an unreachable authorization server does not end the sign-in', async () => {
    const store = memoryStore(expired);
    await expect(clientOf('http://127.0.0.1:9', store).orders.get(1)).rejects.toMatchObject({ code: 'connection_failed' });
    expect(await store.read()).toEqual(expired);
  });
});
