import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { useServer } from '../../support/server/use-server.ts';
import {
  sendTokenRequest,
  basicAuthorization,
  obtainClientToken,
  cliClient,
  createConfidentialClient,
  readOAuthError,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const requestTokens = (form: Record<string, string>, headers?: Record<string, string>) => sendTokenRequest(server.origin, form, headers);
const clientCredentialsForm = { grant_type: 'client_credentials', scope: 'orders.manage' };

test('a wrong secret and an unknown client_id get the same response (43)', async () => {
  const client = await createConfidentialClient(server.db, ['orders.manage']);
  const responses = await Promise.all([
    requestTokens(clientCredentialsForm, basicAuthorization(client.clientId, 'wrong')),
    requestTokens(clientCredentialsForm, basicAuthorization('nobody-knows', 'wrong')),
  ]);
  for (const response of responses) expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
  const [wrong, unknown] = await Promise.all(responses.map(async (response) => [response.status, await response.json()]));
  expect(wrong).toEqual([401, { error: 'invalid_client', error_description: 'client authentication failed' }]);
  expect(unknown).toEqual(wrong);
});

test('the stored hash of a secret is not accepted as the secret', async () => {
  const client = await createConfidentialClient(server.db, ['orders.manage']);
  const [row] = await server.db.em
    .fork()
    .execute<{ hash: string }[]>('select secret_hashes[1] as hash from applications where client_id = ?', [client.clientId]);
  expect(row?.hash).not.toContain(client.secret);
  expect(await readOAuthError(await requestTokens(clientCredentialsForm, basicAuthorization(client.clientId, row?.hash ?? '')))).toBe(
    '401 invalid_client',
  );
});

test('the secret is accepted in the header or in the body, but not in both (44)', async () => {
  const { clientId, secret } = await createConfidentialClient(server.db, ['orders.manage']);
  const formWithSecret = { ...clientCredentialsForm, client_id: clientId, client_secret: secret };
  expect((await requestTokens(clientCredentialsForm, basicAuthorization(clientId, secret))).status).toBe(200);
  expect((await requestTokens(formWithSecret)).status).toBe(200);
  expect(await readOAuthError(await requestTokens(formWithSecret, basicAuthorization(clientId, secret)))).toBe('400 invalid_request');
  expect(await readOAuthError(await requestTokens({ ...clientCredentialsForm, client_id: clientId }))).toBe('401 invalid_client');
  expect(await readOAuthError(await requestTokens(clientCredentialsForm))).toBe('401 invalid_client');
});

test('a secret in the query string is rejected (45)', async () => {
  const { clientId, secret } = await createConfidentialClient(server.db, ['orders.manage']);
  const query = new URLSearchParams({ client_id: clientId, client_secret: secret });
  const response = await fetch(`${server.origin}/oauth/token?${query.toString()}`, {
    method: 'POST',
    body: new URLSearchParams(clientCredentialsForm),
  });
  expect(await readOAuthError(response)).toBe('401 invalid_client');
});

test('a public application cannot use the client credentials grant (46)', async () => {
  expect(await readOAuthError(await requestTokens({ ...clientCredentialsForm, client_id: cliClient.clientId }))).toBe(
    '400 unauthorized_client',
  );
});

test('the password grant and a request without grant_type are rejected (47)', async () => {
  const { clientId, secret } = await createConfidentialClient(server.db, []);
  expect(
    await readOAuthError(
      await requestTokens({ grant_type: 'password', username: 'a', password: 'b' }, basicAuthorization(clientId, secret)),
    ),
  ).toBe('400 unsupported_grant_type');
  expect(await readOAuthError(await requestTokens({}, basicAuthorization(clientId, secret)))).toBe('400 invalid_request');
});

test('the token endpoint accepts only a POST with a short form body (48)', async () => {
  const url = `${server.origin}/oauth/token`;
  const json = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(clientCredentialsForm),
  });
  expect(await readOAuthError(json)).toBe('400 invalid_request');
  expect((await fetch(url)).status).toBe(405);
  expect((await fetch(`${server.origin}/oauth/nothing-here`)).status).toBe(404);
  const responseToLongForm = await requestTokens({ ...clientCredentialsForm, padding: 'x'.repeat(60_000) });
  expect(responseToLongForm.status).toBe(400);
});

test('success and error responses of the token endpoint have Cache-Control: no-store (49)', async () => {
  const { clientId, secret } = await createConfidentialClient(server.db, ['orders.manage']);
  for (const response of [
    await requestTokens(clientCredentialsForm, basicAuthorization(clientId, secret)),
    await requestTokens(clientCredentialsForm),
  ]) {
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
  }
});

test('client credentials return no refresh token, only registered scopes, and client_id as subject (50, 51)', async () => {
  const client = await createConfidentialClient(server.db, ['orders.manage', 'users.manage']);
  const tokens = tokenResponseSchema.parse(
    await (await requestTokens(clientCredentialsForm, basicAuthorization(client.clientId, client.secret))).json(),
  );
  expect(tokens).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 300, scope: 'orders.manage' });
  const claims: unknown = JSON.parse(Buffer.from(tokens.access_token.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({ sub: client.clientId, client_id: client.clientId, aud: `${server.origin}/api`, iss: server.origin });
  expect(
    await readOAuthError(
      await requestTokens({ ...clientCredentialsForm, scope: 'products.write' }, basicAuthorization(client.clientId, client.secret)),
    ),
  ).toBe('400 invalid_scope');
});

test('client credentials without scope return the registered scopes, or no scope if none is registered (52)', async () => {
  const clientWithScopes = await createConfidentialClient(server.db, ['orders.manage', 'users.manage']);
  const scopeless = { grant_type: 'client_credentials' };
  const all = tokenResponseSchema.parse(
    await (await requestTokens(scopeless, basicAuthorization(clientWithScopes.clientId, clientWithScopes.secret))).json(),
  );
  expect(all.scope).toBe('orders.manage users.manage');
  const clientWithoutScopes = await createConfidentialClient(server.db, []);
  const empty = tokenResponseSchema.parse(
    await (await requestTokens(scopeless, basicAuthorization(clientWithoutScopes.clientId, clientWithoutScopes.secret))).json(),
  );
  expect(empty.scope).toBeUndefined();
  expect(
    await readOAuthError(
      await requestTokens(
        { ...scopeless, scope: 'users.read' },
        basicAuthorization(clientWithoutScopes.clientId, clientWithoutScopes.secret),
      ),
    ),
  ).toBe('400 invalid_scope');
});

test('a disabled application gets no tokens, and its tokens are revoked immediately (74)', async () => {
  const client = await createConfidentialClient(server.db, ['users.manage']);
  const token = await obtainClientToken(server.origin, client, ['users.manage']);
  const list = () => fetch(`${server.origin}/api/v1/users/1`, { headers: { authorization: `Bearer ${token}` } });
  expect((await list()).status).toBe(404);
  await server.db.em.fork().execute(`update applications set status = 'disabled' where client_id = ?`, [client.clientId]);
  expect((await list()).status).toBe(401);
  expect(await readOAuthError(await requestTokens(clientCredentialsForm, basicAuthorization(client.clientId, client.secret)))).toBe(
    '401 invalid_client',
  );
});

test('removing scopes of an application also removes them from issued tokens (16)', async () => {
  const client = await createConfidentialClient(server.db, ['users.manage']);
  const token = await obtainClientToken(server.origin, client, ['users.manage']);
  const read = () => fetch(`${server.origin}/api/v1/users/1`, { headers: { authorization: `Bearer ${token}` } });
  expect((await read()).status).toBe(404);
  await server.db.em.fork().execute(`update applications set scopes = '{}' where client_id = ?`, [client.clientId]);
  expect((await read()).status).toBe(403);
});

test('error responses contain no internal details (53)', async () => {
  const client = await createConfidentialClient(server.db, ['orders.manage']);
  const credentials = basicAuthorization(client.clientId, client.secret);
  const responses = [
    await requestTokens(
      { grant_type: 'authorization_code', code: 'a-code-that-is-none', redirect_uri: 'x', code_verifier: 'x'.repeat(43) },
      credentials,
    ),
    await requestTokens({ grant_type: 'refresh_token', refresh_token: 'a-token-that-is-none' }, credentials),
    await requestTokens(clientCredentialsForm, basicAuthorization(client.clientId, 'a-secret-that-is-wrong')),
    await requestTokens({ grant_type: '\0' }, credentials),
  ];
  const em = server.db.em.fork();
  await em.execute('alter table oauth_records rename to planted_elsewhere');
  responses.push(await requestTokens(clientCredentialsForm, credentials));
  await em.execute('alter table planted_elsewhere rename to oauth_records');
  expect(responses.at(-1)?.status).toBe(500);
  for (const response of responses) {
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({ error: expect.any(String), error_description: expect.any(String) });
    expect(text).not.toMatch(/oauth_records|planted|select|insert|node_modules|server\/|\bat |that-is|a-secret/);
    expect(text).not.toContain(client.secret);
  }
});

test('incomplete requests do not delay other requests', async () => {
  const { clientId, secret } = await createConfidentialClient(server.db, ['orders.manage']);
  const { port, host } = new URL(server.origin);
  const head = [
    'POST /oauth/token HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Length: 100',
    'Expect: 100-continue',
  ];
  const sockets = Array.from({ length: 12 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await once(socket, 'data'); // the server is waiting for the request body
  }
  expect((await requestTokens(clientCredentialsForm, basicAuthorization(clientId, secret))).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});
