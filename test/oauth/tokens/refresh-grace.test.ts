import { beforeEach, describe, expect, test } from 'vitest';
import { hashSecretRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { deleteExpiredOauthRecordsBatch } from '../../../server/oauth/storage/delete-expired-and-orphaned-oauth-rows.sql.ts';
import { createDpopKey, createDpopProof, type DpopKey } from '../../support/oauth/dpop-proof.ts';
import { expireRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { fetchApiStatus, useServer, type RunningServer } from '../../support/server/use-server.ts';
import {
  sendTokenRequest,
  obtainAuthorizationCode,
  basicAuthorization,
  cliClient,
  sendRefreshRequest,
  readOAuthError,
  signUp,
  tokenResponseSchema,
  obtainTokens,
  createWebApplication,
  type ClientCredentials,
  type TestUser,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
let anna: TestUser;
beforeEach(async () => {
  anna = await signUp(server.origin);
});

const refreshTokenFrom = ({ refresh_token: token = '' }: TokenResponse): string => token;
const parseTokenResponse = (text: string): TokenResponse => tokenResponseSchema.parse(JSON.parse(text));

/** Returns the response body. The response status must be 200. */
async function successBody(response: Response | Promise<Response>): Promise<string> {
  const { status, text } = await statusAndText(await response);
  expect(`${status} ${status === 200 ? '' : text}`).toBe('200 ');
  return text;
}
const statusAndText = async (response: Response) => ({ status: response.status, text: await response.text() });

/** Expects that all of the grant's tokens are revoked. */
async function expectRevoked(at: Pick<RunningServer, 'origin'>, tokens: TokenResponse): Promise<void> {
  expect(await fetchApiStatus(at, tokens.access_token)).toBe(401);
  expect(await readOAuthError(await sendRefreshRequest(at.origin, refreshTokenFrom(tokens)))).toBe('400 invalid_grant');
}

/** Returns the tokens that a confidential client obtains when Anna authorizes it. */
async function tokensForClient(
  client: ClientCredentials & { redirectUri: string },
  headers: Record<string, string> = {},
): Promise<TokenResponse> {
  const { clientId, secret, redirectUri } = client;
  const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' };
  const { code, verifier } = await obtainAuthorizationCode(server.origin, anna, request);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  const response = sendTokenRequest(server.origin, form, { ...basicAuthorization(clientId, secret), ...headers });
  return parseTokenResponse(await successBody(response));
}

const refreshAs = (
  { clientId, secret }: ClientCredentials,
  refreshToken: string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  sendTokenRequest(
    server.origin,
    { grant_type: 'refresh_token', refresh_token: refreshToken },
    { ...basicAuthorization(clientId, secret), ...headers },
  );

describe('within the grace period', () => {
  test('a repeated refresh returns the first response byte for byte and creates no token', async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const successor = await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)));
    const before = await countTokens(anna);
    expect(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe(successor);
    expect(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe(successor);
    expect(await countTokens(anna)).toEqual(before);
    expect(Object.keys(parseTokenResponse(successor))).toEqual(
      expect.arrayContaining(['access_token', 'refresh_token', 'id_token', 'expires_in']),
    );
    expect(await fetchApiStatus(server, parseTokenResponse(successor).access_token)).toBe(200);
    await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(parseTokenResponse(successor))));
  });

  test("a repeated refresh with the successor returns the successor's response", async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const second = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first))));
    const third = await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(second)));
    expect(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(second)))).toBe(third);
  });

  test('an old token revokes the grant once its successor has been used', async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const second = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first))));
    const third = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(second))));
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
    await expectRevoked(server, third);
    expect(await storedRefreshResponses(anna)).toEqual([]);
  });

  test.each([
    ['scope', { scope: 'openid' }],
    ['resource', { resource: 'RESOURCE' }],
  ])('a request with another %s is reuse and revokes the grant', async (_parameter, form) => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const second = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first))));
    const parameters = Object.fromEntries(
      Object.entries(form).map(([name, value]) => [name, value.replace('RESOURCE', `${server.origin}/mcp`)]),
    );
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first), parameters))).toBe('400 invalid_grant');
    await expectRevoked(server, second);
  });

  test('a repeated refresh may list its scopes in another order', async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read', 'orders.read']);
    const successor = await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first), { scope: 'users.read orders.read' }));
    expect(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first), { scope: 'orders.read users.read' }))).toBe(
      successor,
    );
  });

  test("another client gets invalid_grant, and the token's own client still gets its response", async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const successor = await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)));
    const other = await createWebApplication(server.db, ['users.read']);
    expect(await readOAuthError(await refreshAs(other, refreshTokenFrom(first)))).toBe('400 invalid_grant');
    expect(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe(successor);
  });

  test('a confidential client must also authenticate for a replay', async () => {
    const client = await createWebApplication(server.db, ['users.read']);
    const first = await tokensForClient(client);
    const successor = await successBody(refreshAs(client, refreshTokenFrom(first)));
    expect(await readOAuthError(await refreshAs({ ...client, secret: 'not-the-secret' }, refreshTokenFrom(first)))).toBe(
      '401 invalid_client',
    );
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first), { client_id: client.clientId }))).toBe(
      '401 invalid_client',
    );
    expect(await successBody(refreshAs(client, refreshTokenFrom(first)))).toBe(successor);
  });

  test('neither introspection nor revocation treats the old token as valid', async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const second = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first))));
    const body = new URLSearchParams({ client_id: cliClient.clientId, token: refreshTokenFrom(first) });
    const introspection: unknown = await (await fetch(`${server.origin}/oauth/introspection`, { method: 'POST', body })).json();
    expect(introspection).toEqual({ active: false });
    expect((await fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
    await expectRevoked(server, second);
  });
});

test('after the grace period, reuse revokes the grant', async () => {
  const first = await obtainTokens(server.origin, anna, ['users.read']);
  const second = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first))));
  await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)));
  await expireRefreshGrace(server.db);
  expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
  await expectRevoked(server, second);
});

describe('no response is replayed', () => {
  const entityManager = () => server.db.em.fork();

  test('after the grant has been revoked', async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const second = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first))));
    const body = new URLSearchParams({ client_id: cliClient.clientId, token: refreshTokenFrom(second) });
    expect((await fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
    expect(await storedRefreshResponses(anna)).toEqual([]);
  });

  test('for a suspended account', async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)));
    await entityManager().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
  });

  test('to a disabled application', async () => {
    const client = await createWebApplication(server.db, ['users.read']);
    const first = await tokensForClient(client);
    await successBody(refreshAs(client, refreshTokenFrom(first)));
    await entityManager().execute(`update applications set status = 'disabled' where client_id = ?`, [client.clientId]);
    expect(await readOAuthError(await refreshAs(client, refreshTokenFrom(first)))).toBe('401 invalid_client');
  });

  test.each([
    ['at the first refresh', 0],
    ['after the first refresh', null],
  ])('to an application whose grace period is 0 (%s)', async (_when, initialGrace) => {
    const client = await createWebApplication(server.db, ['users.read']);
    const setGrace = (seconds: number | null) =>
      entityManager().execute('update applications set refresh_grace_seconds = ? where client_id = ?', [seconds, client.clientId]);
    await setGrace(initialGrace);
    const first = await tokensForClient(client);
    const second = parseTokenResponse(await successBody(refreshAs(client, refreshTokenFrom(first))));
    await setGrace(0);
    expect(await readOAuthError(await refreshAs(client, refreshTokenFrom(first)))).toBe('400 invalid_grant');
    expect(await fetchApiStatus(server, second.access_token)).toBe(401);
  });
});

describe('a request with a proof of possession (RFC 9449)', () => {
  const tokenEndpoint = () => ({ method: 'POST', url: `${server.origin}/oauth/token` });
  const dpopHeader = async (key: DpopKey) => ({ dpop: await createDpopProof(key, tokenEndpoint()) });

  /** Obtains a refresh token bound to the DPoP key. The token is about to expire, so the next refresh rotates the token. */
  async function boundToken(key: DpopKey): Promise<string> {
    const { code, verifier, redirectUri, clientId } = await obtainAuthorizationCode(server.origin, anna, { scope: 'openid users.read' });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
    const { refresh_token: token = '' } = parseTokenResponse(
      await successBody(sendTokenRequest(server.origin, form, await dpopHeader(key))),
    );
    const shiftedClaim = (claim: string): string => `'${claim}', (payload::jsonb->>'${claim}')::bigint - 11 * 86400`;
    await server.db.em
      .fork()
      .execute(
        `update oauth_records set payload = (payload::jsonb || jsonb_build_object(${shiftedClaim('iat')}, ${shiftedClaim('exp')}))::text where id = ?`,
        [hashSecretRecordId(token)],
      );
    return token;
  }
  const refreshForCommandLine = (refreshToken: string, headers: Record<string, string> = {}): Promise<Response> =>
    sendTokenRequest(server.origin, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: cliClient.clientId }, headers);

  test('is replayed only for a new proof of the same key', async () => {
    const key = await createDpopKey();
    const first = await boundToken(key);
    const used = await dpopHeader(key);
    const successor = await successBody(refreshForCommandLine(first, used));
    expect(refreshTokenFrom(parseTokenResponse(successor))).not.toBe(first);
    for (const headers of [{}, used, await dpopHeader(await createDpopKey())])
      expect(await readOAuthError(await refreshForCommandLine(first, headers))).toBe('400 invalid_grant');
    const nextProof = await dpopHeader(key);
    expect(await successBody(refreshForCommandLine(first, nextProof))).toBe(successor);
    expect(await readOAuthError(await refreshForCommandLine(first, nextProof)), 'a replay consumes its proof').toBe('400 invalid_grant');
  });

  test('is not replayed once the successor has been used, even if the successor was not rotated', async () => {
    const key = await createDpopKey();
    const first = await boundToken(key);
    const second = refreshTokenFrom(parseTokenResponse(await successBody(refreshForCommandLine(first, await dpopHeader(key)))));
    expect(refreshTokenFrom(parseTokenResponse(await successBody(refreshForCommandLine(second, await dpopHeader(key)))))).toBe(second);
    expect(await readOAuthError(await refreshForCommandLine(first, await dpopHeader(key)))).toBe('400 invalid_grant');
    expect(await readOAuthError(await refreshForCommandLine(second, await dpopHeader(key)))).toBe('400 invalid_grant');
  });

  test('of a confidential client is replayed only for the same key', async () => {
    const client = await createWebApplication(server.db, ['users.read']);
    const key = await createDpopKey();
    const first = await tokensForClient(client, await dpopHeader(key));
    const successor = await successBody(refreshAs(client, refreshTokenFrom(first), await dpopHeader(key)));
    expect(await successBody(refreshAs(client, refreshTokenFrom(first), await dpopHeader(key)))).toBe(successor);
    expect(await readOAuthError(await refreshAs(client, refreshTokenFrom(first)))).toBe('400 invalid_grant');
  });
});

describe('the stored response', () => {
  test('cannot be decrypted with the database contents, and is deleted after the grace period', async () => {
    const first = await obtainTokens(server.origin, anna, ['users.read']);
    const successor = await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(first)));
    const [stored, ...more] = await storedRefreshResponses(anna);
    expect(more).toEqual([]);
    const { access_token: access, id_token: identity = '', refresh_token: next = '' } = parseTokenResponse(successor);
    for (const part of [access, identity, next, 'access_token', refreshTokenFrom(first)]) expect(stored).not.toContain(part);
    while ((await deleteExpiredOauthRecordsBatch(server.db.em.fork(), new Date(Date.now() + 31_000))) > 0);
    expect(await storedRefreshResponses(anna)).toEqual([]);
    expect(await readOAuthError(await sendRefreshRequest(server.origin, refreshTokenFrom(first)))).toBe('400 invalid_grant');
  });

  test('exists once per grant, and is replaced when the successor is used', async () => {
    let tokens = await obtainTokens(server.origin, anna, ['users.read']);
    for (let rotation = 0; rotation < 3; rotation += 1) {
      tokens = parseTokenResponse(await successBody(sendRefreshRequest(server.origin, refreshTokenFrom(tokens))));
      expect(await storedRefreshResponses(anna)).toHaveLength(1);
    }
  });
});

async function storedRefreshResponses({ id }: TestUser): Promise<string[]> {
  const rows = await server.db.em
    .fork()
    .execute<{ payload: string }[]>(`select payload from oauth_records where model = 'RefreshTokenResponse' and account_id = ?`, [
      String(id),
    ]);
  return rows.map(({ payload }) => payload);
}

async function countTokens({ id }: TestUser): Promise<object | undefined> {
  const [counts] = await server.db.em.fork().execute<object[]>(
    `select count(*) filter (where model = 'RefreshToken')::int as refresh, count(*) filter (where model = 'AccessToken')::int as access
       from oauth_records where account_id = ?`,
    [String(id)],
  );
  return counts;
}
