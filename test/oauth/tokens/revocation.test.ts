import { describe, expect, test } from 'vitest';
import { fetchApiStatus, useServer } from '../../support/server/use-server.ts';
import {
  basicAuthorization,
  obtainClientToken,
  cliClient,
  createConfidentialClient,
  sendRefreshRequest,
  readOAuthError,
  signUp,
  obtainTokens,
  createWebApplication,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();

const postToEndpoint = (
  endpoint: 'revocation' | 'introspection',
  form: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
): Promise<Response> => fetch(`${server.origin}/oauth/${endpoint}`, { method: 'POST', body: new URLSearchParams(form), headers });
const commandLineForm = { client_id: cliClient.clientId };

describe('revocation', () => {
  test('of a refresh token also revokes its access token from the next request on (66)', async () => {
    const tokens = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(200);
    expect((await postToEndpoint('revocation', { ...commandLineForm, token: tokens.refresh_token ?? '' })).status).toBe(200);
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
    expect(await readOAuthError(await sendRefreshRequest(server.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  });

  test('of an access token takes effect from the next request on (67)', async () => {
    const tokens = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    expect((await postToEndpoint('revocation', { ...commandLineForm, token: tokens.access_token })).status).toBe(200);
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(401);
  });

  test('of a client credentials token takes effect immediately', async () => {
    const client = await createConfidentialClient(server.db, ['users.manage']);
    const token = await obtainClientToken(server.origin, client, ['users.manage']);
    expect((await postToEndpoint('revocation', { token }, basicAuthorization(client.clientId, client.secret))).status).toBe(200);
    expect(await fetchApiStatus(server, token)).toBe(401);
  });

  test('of an unknown token succeeds, and a wrong token_type_hint is ignored (68)', async () => {
    expect((await postToEndpoint('revocation', { ...commandLineForm, token: 'nobody-knows' })).status).toBe(200);
    const one = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    await postToEndpoint('revocation', { ...commandLineForm, token: one.refresh_token ?? '', token_type_hint: 'access_token' });
    expect(await fetchApiStatus(server, one.access_token)).toBe(401);
    const other = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    await postToEndpoint('revocation', { ...commandLineForm, token: other.access_token, token_type_hint: 'refresh_token' });
    expect(await fetchApiStatus(server, other.access_token)).toBe(401);
  });

  test('with two token type hints is rejected', async () => {
    const { access_token: token } = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    const hints = ['access_token', 'refresh_token'].map((hint): [string, string] => ['token_type_hint', hint]);
    const response = await postToEndpoint('revocation', [['client_id', cliClient.clientId], ['token', token], ...hints]);
    expect(await readOAuthError(response)).toBe('400 invalid_request');
    expect(await fetchApiStatus(server, token)).toBe(200);
  });

  test('by another application has no effect (69)', async () => {
    const tokens = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    const other = await createWebApplication(server.db, ['users.read']);
    for (const token of [tokens.access_token, tokens.refresh_token ?? '']) {
      expect((await postToEndpoint('revocation', { token }, basicAuthorization(other.clientId, other.secret))).status).toBe(200);
    }
    expect(await fetchApiStatus(server, tokens.access_token)).toBe(200);
    expect((await sendRefreshRequest(server.origin, tokens.refresh_token ?? '')).status).toBe(200);
  });

  test('requires client authentication', async () => {
    expect(await readOAuthError(await postToEndpoint('revocation', { token: 'x' }))).toBe('401 invalid_client');
  });
});

describe('introspection', () => {
  test('requires client authentication (70)', async () => {
    const response = await postToEndpoint('introspection', { token: 'x' });
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(await readOAuthError(response)).toBe('401 invalid_client');
  });

  test('returns the claims of a valid access token (72)', async () => {
    const anna = await signUp(server.origin);
    const tokens = await obtainTokens(server.origin, anna, ['users.read']);
    const introspection: unknown = await (await postToEndpoint('introspection', { ...commandLineForm, token: tokens.access_token })).json();
    const now = Date.now() / 1000;
    expect(introspection).toMatchObject({
      active: true,
      iss: server.origin,
      aud: `${server.origin}/api`,
      sub: String(anna.id),
      client_id: cliClient.clientId,
      scope: 'openid users.read',
      token_type: 'Bearer',
      exp: expect.closeTo(now + 300, -1),
    });
  });

  test('returns only active: false for invalid and revoked tokens and for tokens of another client (71)', async () => {
    const tokens = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    const other = await createWebApplication(server.db, ['users.read']);
    const credentials = basicAuthorization(other.clientId, other.secret);
    const otherClientTokens = [tokens.access_token, tokens.refresh_token ?? ''];
    const forged = `${tokens.access_token.slice(0, -6)}AAAAAA`;
    for (const token of [...otherClientTokens, forged, 'garbage', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', '\0']) {
      expect(await (await postToEndpoint('introspection', { token }, credentials)).json()).toEqual({ active: false });
    }
    await postToEndpoint('revocation', { ...commandLineForm, token: tokens.refresh_token ?? '' });
    for (const token of otherClientTokens)
      expect(await (await postToEndpoint('introspection', { ...commandLineForm, token })).json()).toEqual({ active: false });
  });

  test('does not accept the jti of a token as a token', async () => {
    const tokens = await obtainTokens(server.origin, await signUp(server.origin), ['users.read']);
    const claims: { jti: string } = JSON.parse(Buffer.from(tokens.access_token.split('.')[1] ?? '', 'base64url').toString());
    expect(await (await postToEndpoint('introspection', { ...commandLineForm, token: claims.jti })).json()).toEqual({ active: false });
    const userinfo = await fetch(`${server.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${claims.jti}` } });
    expect(userinfo.status).toBe(401);
  });
});
