import { beforeEach, describe, expect, test } from 'vitest';
import { hashRecordId } from '../../../server/oauth/storage/oauth-record-mapping.ts';
import { deleteExpiredRecords } from '../../../server/oauth/storage/delete-expired-records.ts';
import { newProofKey, proof, type ProofKey } from '../../support/oauth/dpop-proof.ts';
import { endRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { apiStatus, useServer, type RunningServer } from '../../support/server/with-server.ts';
import {
  askForTokens,
  authorize,
  basic,
  commandLine,
  refresh,
  refusal,
  signUp,
  tokenResponse,
  tokensFor,
  webApplication,
  type Client,
  type Person,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
let anna: Person;
beforeEach(async () => {
  anna = await signUp(server.origin);
});

const refreshTokenOf = ({ refresh_token: token = '' }: TokenResponse): string => token;
const parse = (text: string): TokenResponse => tokenResponse.parse(JSON.parse(text));

/** The body of a response that must be a success. */
async function bodyOf(response: Response | Promise<Response>): Promise<string> {
  const { status, text } = await read(await response);
  expect(`${status} ${status === 200 ? '' : text}`).toBe('200 ');
  return text;
}
const read = async (response: Response) => ({ status: response.status, text: await response.text() });

/** Expects that the tokens and everything else of their grant are revoked. */
async function expectRevoked(at: Pick<RunningServer, 'origin'>, tokens: TokenResponse): Promise<void> {
  expect(await apiStatus(at, tokens.access_token)).toBe(401);
  expect(await refusal(await refresh(at.origin, refreshTokenOf(tokens)))).toBe('400 invalid_grant');
}

/** A client with a secret, and the tokens that Anna granted it. */
async function grantTo(client: Client & { redirectUri: string }, headers: Record<string, string> = {}): Promise<TokenResponse> {
  const { clientId, secret, redirectUri } = client;
  const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' };
  const { code, verifier } = await authorize(server.origin, anna, request);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  return parse(await bodyOf(askForTokens(server.origin, form, { ...basic(clientId, secret), ...headers })));
}

const refreshAs = ({ clientId, secret }: Client, refreshToken: string, headers: Record<string, string> = {}): Promise<Response> =>
  askForTokens(server.origin, { grant_type: 'refresh_token', refresh_token: refreshToken }, { ...basic(clientId, secret), ...headers });

describe('within the grace period', () => {
  test('a repeated refresh returns the first response byte for byte, and creates no other token', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const successor = await bodyOf(refresh(server.origin, refreshTokenOf(first)));
    const before = await countTokens(anna);
    expect(await bodyOf(refresh(server.origin, refreshTokenOf(first)))).toBe(successor);
    expect(await bodyOf(refresh(server.origin, refreshTokenOf(first)))).toBe(successor);
    expect(await countTokens(anna)).toEqual(before);
    expect(Object.keys(parse(successor))).toEqual(expect.arrayContaining(['access_token', 'refresh_token', 'id_token', 'expires_in']));
    expect(await apiStatus(server, parse(successor).access_token)).toBe(200);
    await bodyOf(refresh(server.origin, refreshTokenOf(parse(successor))));
  });

  test('the successor is replayed in its turn, once it has been used itself', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const second = parse(await bodyOf(refresh(server.origin, refreshTokenOf(first))));
    const third = await bodyOf(refresh(server.origin, refreshTokenOf(second)));
    expect(await bodyOf(refresh(server.origin, refreshTokenOf(second)))).toBe(third);
  });

  test('an old token revokes the grant once its successor has been used', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const second = parse(await bodyOf(refresh(server.origin, refreshTokenOf(first))));
    const third = parse(await bodyOf(refresh(server.origin, refreshTokenOf(second))));
    expect(await refusal(await refresh(server.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
    await expectRevoked(server, third);
    expect(await storedOf(anna)).toEqual([]);
  });

  test.each([
    ['scope', { scope: 'openid' }],
    ['resource', { resource: 'RESOURCE' }],
  ])('a request with another %s is reuse and revokes the grant', async (_what, form) => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const second = parse(await bodyOf(refresh(server.origin, refreshTokenOf(first))));
    const given = Object.fromEntries(
      Object.entries(form).map(([name, value]) => [name, value.replace('RESOURCE', `${server.origin}/mcp`)]),
    );
    expect(await refusal(await refresh(server.origin, refreshTokenOf(first), given))).toBe('400 invalid_grant');
    await expectRevoked(server, second);
  });

  test('the order of the scopes does not make another request', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read', 'orders.read']);
    const successor = await bodyOf(refresh(server.origin, refreshTokenOf(first), { scope: 'users.read orders.read' }));
    expect(await bodyOf(refresh(server.origin, refreshTokenOf(first), { scope: 'orders.read users.read' }))).toBe(successor);
  });

  test('another client gets nothing, and the owner of the token still gets its response', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const successor = await bodyOf(refresh(server.origin, refreshTokenOf(first)));
    const other = await webApplication(server.db, ['users.read']);
    expect(await refusal(await refreshAs(other, refreshTokenOf(first)))).toBe('400 invalid_grant');
    expect(await bodyOf(refresh(server.origin, refreshTokenOf(first)))).toBe(successor);
  });

  test('a client with a secret has to authenticate for the replay as well', async () => {
    const client = await webApplication(server.db, ['users.read']);
    const first = await grantTo(client);
    const successor = await bodyOf(refreshAs(client, refreshTokenOf(first)));
    expect(await refusal(await refreshAs({ ...client, secret: 'not-the-secret' }, refreshTokenOf(first)))).toBe('401 invalid_client');
    expect(await refusal(await refresh(server.origin, refreshTokenOf(first), { client_id: client.clientId }))).toBe('401 invalid_client');
    expect(await bodyOf(refreshAs(client, refreshTokenOf(first)))).toBe(successor);
  });

  test('neither introspection nor revocation treats the old token as valid', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const second = parse(await bodyOf(refresh(server.origin, refreshTokenOf(first))));
    const body = new URLSearchParams({ client_id: commandLine.clientId, token: refreshTokenOf(first) });
    const answer: unknown = await (await fetch(`${server.origin}/oauth/introspection`, { method: 'POST', body })).json();
    expect(answer).toEqual({ active: false });
    expect((await fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
    expect(await refusal(await refresh(server.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
    await expectRevoked(server, second);
  });
});

test('after the grace period, reuse revokes the grant', async () => {
  const first = await tokensFor(server.origin, anna, ['users.read']);
  const second = parse(await bodyOf(refresh(server.origin, refreshTokenOf(first))));
  await bodyOf(refresh(server.origin, refreshTokenOf(first)));
  await endRefreshGrace(server.db);
  expect(await refusal(await refresh(server.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
  await expectRevoked(server, second);
});

describe('nothing is replayed', () => {
  const em = () => server.db.em.fork();

  test('after the grant has been revoked', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const second = parse(await bodyOf(refresh(server.origin, refreshTokenOf(first))));
    const body = new URLSearchParams({ client_id: commandLine.clientId, token: refreshTokenOf(second) });
    expect((await fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body })).status).toBe(200);
    expect(await refusal(await refresh(server.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
    expect(await storedOf(anna)).toEqual([]);
  });

  test('to an account that is suspended', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    await bodyOf(refresh(server.origin, refreshTokenOf(first)));
    await em().execute(`update users set status = 'suspended' where id = ?`, [anna.id]);
    expect(await refusal(await refresh(server.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
  });

  test('to an application that is disabled', async () => {
    const client = await webApplication(server.db, ['users.read']);
    const first = await grantTo(client);
    await bodyOf(refreshAs(client, refreshTokenOf(first)));
    await em().execute(`update applications set status = 'disabled' where client_id = ?`, [client.clientId]);
    expect(await refusal(await refreshAs(client, refreshTokenOf(first)))).toBe('401 invalid_client');
  });

  test.each([
    ['from the start', 0],
    ['since then', null],
  ])('to an application whose grace period is 0 (%s)', async (_when, atFirst) => {
    const client = await webApplication(server.db, ['users.read']);
    const setGrace = (seconds: number | null) =>
      em().execute('update applications set refresh_grace_seconds = ? where client_id = ?', [seconds, client.clientId]);
    await setGrace(atFirst);
    const first = await grantTo(client);
    const second = parse(await bodyOf(refreshAs(client, refreshTokenOf(first))));
    await setGrace(0);
    expect(await refusal(await refreshAs(client, refreshTokenOf(first)))).toBe('400 invalid_grant');
    expect(await apiStatus(server, second.access_token)).toBe(401);
  });
});

describe('a request with a proof of possession (RFC 9449)', () => {
  const tokenEndpoint = () => ({ method: 'POST', url: `${server.origin}/oauth/token` });
  const proofOf = async (key: ProofKey) => ({ dpop: await proof(key, tokenEndpoint()) });

  /** A refresh token of the command line, bound to a key and close to its expiry, when it is rotated. */
  async function boundToken(key: ProofKey): Promise<string> {
    const { code, verifier, redirectUri, clientId } = await authorize(server.origin, anna, { scope: 'openid users.read' });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId };
    const { refresh_token: token = '' } = parse(await bodyOf(askForTokens(server.origin, form, await proofOf(key))));
    const earlier = (claim: string): string => `'${claim}', (payload::jsonb->>'${claim}')::bigint - 11 * 86400`;
    await server.db.em
      .fork()
      .execute(
        `update oauth_records set payload = (payload::jsonb || jsonb_build_object(${earlier('iat')}, ${earlier('exp')}))::text where id = ?`,
        [hashRecordId(token)],
      );
    return token;
  }
  const renew = (refreshToken: string, headers: Record<string, string> = {}): Promise<Response> =>
    askForTokens(server.origin, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: commandLine.clientId }, headers);

  test('is replayed for a new proof of the same key, and for nothing else', async () => {
    const key = await newProofKey();
    const first = await boundToken(key);
    const used = await proofOf(key);
    const successor = await bodyOf(renew(first, used));
    expect(refreshTokenOf(parse(successor))).not.toBe(first);
    for (const headers of [{}, used, await proofOf(await newProofKey())])
      expect(await refusal(await renew(first, headers))).toBe('400 invalid_grant');
    const again = await proofOf(key);
    expect(await bodyOf(renew(first, again))).toBe(successor);
    expect(await refusal(await renew(first, again)), 'a replay spends its proof').toBe('400 invalid_grant');
  });

  test('is not replayed once the successor has been used, even though it has not been rotated', async () => {
    const key = await newProofKey();
    const first = await boundToken(key);
    const second = refreshTokenOf(parse(await bodyOf(renew(first, await proofOf(key)))));
    expect(refreshTokenOf(parse(await bodyOf(renew(second, await proofOf(key)))))).toBe(second);
    expect(await refusal(await renew(first, await proofOf(key)))).toBe('400 invalid_grant');
    expect(await refusal(await renew(second, await proofOf(key)))).toBe('400 invalid_grant');
  });

  test('of a client with a secret is another request with another key', async () => {
    const client = await webApplication(server.db, ['users.read']);
    const key = await newProofKey();
    const first = await grantTo(client, await proofOf(key));
    const successor = await bodyOf(refreshAs(client, refreshTokenOf(first), await proofOf(key)));
    expect(await bodyOf(refreshAs(client, refreshTokenOf(first), await proofOf(key)))).toBe(successor);
    expect(await refusal(await refreshAs(client, refreshTokenOf(first)))).toBe('400 invalid_grant');
  });
});

describe('the stored response', () => {
  test('cannot be opened with what the database holds, and is swept after the grace period', async () => {
    const first = await tokensFor(server.origin, anna, ['users.read']);
    const successor = await bodyOf(refresh(server.origin, refreshTokenOf(first)));
    const [stored, ...more] = await storedOf(anna);
    expect(more).toEqual([]);
    const { access_token: access, id_token: identity = '', refresh_token: next = '' } = parse(successor);
    for (const part of [access, identity, next, 'access_token', refreshTokenOf(first)]) expect(stored).not.toContain(part);
    while ((await deleteExpiredRecords(server.db.em.fork(), new Date(Date.now() + 31_000))) > 0);
    expect(await storedOf(anna)).toEqual([]);
    expect(await refusal(await refresh(server.origin, refreshTokenOf(first)))).toBe('400 invalid_grant');
  });

  test('is one for each grant, and is replaced when the successor is used', async () => {
    let tokens = await tokensFor(server.origin, anna, ['users.read']);
    for (let turn = 0; turn < 3; turn += 1) {
      tokens = parse(await bodyOf(refresh(server.origin, refreshTokenOf(tokens))));
      expect(await storedOf(anna)).toHaveLength(1);
    }
  });
});

async function storedOf({ id }: Person): Promise<string[]> {
  const rows = await server.db.em
    .fork()
    .execute<{ payload: string }[]>(`select payload from oauth_records where model = 'RefreshTokenResponse' and account_id = ?`, [
      String(id),
    ]);
  return rows.map(({ payload }) => payload);
}

async function countTokens({ id }: Person): Promise<object | undefined> {
  const [counts] = await server.db.em.fork().execute<object[]>(
    `select count(*) filter (where model = 'RefreshToken')::int as refresh, count(*) filter (where model = 'AccessToken')::int as access
       from oauth_records where account_id = ?`,
    [String(id)],
  );
  return counts;
}
