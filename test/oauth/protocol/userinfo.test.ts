import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { scopeNames } from '@mandate/contract';
import { askFromDevice, beginOnDevice, connectDevice, wait } from '../../support/oauth/device-flow.ts';
import { newProofKey, proof } from '../../support/oauth/dpop-proof.ts';
import { apiStatus, useServer } from '../../support/server/with-server.ts';
import {
  askForTokens,
  authorize,
  basic,
  clientCredentials,
  commandLine,
  confidentialClient,
  redeem,
  refresh,
  signUp,
  signUpAs,
  tokenResponse,
  webApplication,
  type Person,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';

const server = useServer();
const scope = 'openid profile email users.read orders.read';

const userinfo = (token: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${token}`, ...headers } });

const tokensOf = async (response: Promise<Response>): Promise<TokenResponse> => tokenResponse.parse(await (await response).json());

const signedIn = async (person: Person, requested = scope): Promise<TokenResponse> =>
  tokensOf(redeem(server.origin, await authorize(server.origin, person, { scope: requested })));

/** What the userinfo endpoint and an ID token contain for this user. */
const claimsOf = ({ id, name, email }: Person) => ({ sub: String(id), name, email, email_verified: true, updated_at: expect.any(Number) });

/** Status, error code and challenge of a refused request. */
async function refusalOf(response: Response): Promise<[number, string | undefined]> {
  return [response.status, /error="(\w+)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1]];
}

let anna: Person;
let boss: Person;
beforeAll(async () => {
  anna = await signUp(server.origin);
  boss = await signUpAs(server.db, server.origin, 'admin');
});

describe('one token works at the API and at the userinfo endpoint', () => {
  /** The status of the API, and what the userinfo endpoint returns. */
  const atBoth = async (token: string): Promise<unknown> => {
    const response = await userinfo(token);
    return [await apiStatus(server, token), response.status, await response.json()];
  };
  const accepted = (person: Person): unknown => [200, 200, claimsOf(person)];

  test('from an authorization code, and the ID token has the same claims', async () => {
    const { access_token: token, id_token: idToken = '' } = await signedIn(anna);
    expect(await atBoth(token)).toEqual(accepted(anna));
    expect(decodeJwt(idToken)).toMatchObject(claimsOf(anna));
    expect(decodeJwt(token)).toMatchObject({ aud: `${server.origin}/api`, scope });
  });

  test('from a refresh token', async () => {
    const { refresh_token: refreshToken = '' } = await signedIn(anna);
    const renewed = await tokensOf(refresh(server.origin, refreshToken));
    expect(await atBoth(renewed.access_token)).toEqual(accepted(anna));
    expect(decodeJwt(renewed.id_token ?? '')).toMatchObject(claimsOf(anna));
  });

  test('from a device code', async () => {
    const device = await beginOnDevice(server.origin, scope);
    await connectDevice(anna, device.user_code);
    await server.db.em.fork().execute(wait);
    expect(await atBoth((await tokensOf(askFromDevice(server.origin, device.device_code))).access_token)).toEqual(accepted(anna));
  });

  test('of a confidential application, with every method that the endpoint has', async () => {
    const client = await webApplication(server.db, ['users.read', 'orders.read']);
    const granted = await authorize(server.origin, anna, { client_id: client.clientId, redirect_uri: client.redirectUri, scope });
    const form = {
      grant_type: 'authorization_code',
      code: granted.code,
      code_verifier: granted.verifier,
      redirect_uri: client.redirectUri,
    };
    const { access_token: token } = await tokensOf(askForTokens(server.origin, form, basic(client.clientId, client.secret)));
    expect(await atBoth(token)).toEqual(accepted(anna));
    const posted = { method: 'POST', body: new URLSearchParams({ access_token: token }) };
    expect(await (await fetch(`${server.origin}/oauth/userinfo`, posted)).json()).toEqual(claimsOf(anna));
  });

  test('bound to a key, with a proof for each request', async () => {
    const key = await newProofKey();
    const { code, verifier } = await authorize(server.origin, anna, { scope });
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: commandLine.redirectUri };
    const dpop = await proof(key, { method: 'POST', url: `${server.origin}/oauth/token` });
    const { access_token: token } = await tokensOf(askForTokens(server.origin, { ...form, client_id: commandLine.clientId }, { dpop }));
    const at = (url: string, by = key) => proof(by, { method: 'GET', url, token });
    const authorization = `DPoP ${token}`;
    const me = `${server.origin}/api/v1/users/me`;
    const here = `${server.origin}/oauth/userinfo`;
    expect((await fetch(me, { headers: { authorization, dpop: await at(me) } })).status).toBe(200);
    const once = await at(here);
    expect(await (await userinfo(token, { authorization, dpop: once })).json()).toEqual(claimsOf(anna));
    const refused = [
      userinfo(token),
      userinfo(token, { authorization }),
      userinfo(token, { authorization, dpop: once }),
      userinfo(token, { authorization, dpop: await at(me) }),
      userinfo(token, { authorization, dpop: await at(here, await newProofKey()) }),
    ];
    expect((await Promise.all(refused)).map(({ status }) => status)).toEqual([401, 400, 401, 401, 401]);
  });

  test.each(scopeNames)('with %s', async (name) => {
    const { access_token: token } = await signedIn(boss, `openid profile email users.read ${name}`);
    expect(await atBoth(token)).toEqual(accepted(boss));
  });
});

test('the response has only the claims of the granted scopes', async () => {
  const claims = async (requested: string): Promise<unknown> => (await userinfo((await signedIn(anna, requested)).access_token)).json();
  expect(await claims('openid orders.read')).toEqual({ sub: String(anna.id) });
  expect(await claims('openid email orders.read')).toEqual({ sub: String(anna.id), email: anna.email, email_verified: true });
  const { refresh_token: refreshToken = '' } = await signedIn(anna);
  const narrower = await tokensOf(refresh(server.origin, refreshToken, { scope: 'openid orders.read' }));
  expect(await (await userinfo(narrower.access_token)).json()).toEqual({ sub: String(anna.id) });
});

describe('a token without openid is refused with 403 insufficient_scope', () => {
  const forbidden = [403, 'insufficient_scope'];

  test('when openid was not requested', async () => {
    expect(await refusalOf(await userinfo((await signedIn(anna, 'users.read')).access_token))).toEqual(forbidden);
  });

  test('when a refresh left openid out', async () => {
    const { refresh_token: refreshToken = '' } = await signedIn(anna);
    const { access_token: token } = await tokensOf(refresh(server.origin, refreshToken, { scope: 'email users.read' }));
    expect(await refusalOf(await userinfo(token))).toEqual(forbidden);
    expect(await apiStatus(server, token)).toBe(200);
  });

  test('when an application acts for itself', async () => {
    const client = await confidentialClient(server.db, ['orders.read']);
    const response = await userinfo(await clientCredentials(server.origin, client, ['orders.read']));
    expect(await refusalOf(response)).toEqual(forbidden);
    expect(response.headers.get('www-authenticate')).toContain('scope="openid"');
  });
});

describe('a token is refused with 401 invalid_token', () => {
  const unauthorized = [401, 'invalid_token'];

  test('when it is for /mcp', async () => {
    const resource = { resource: `${server.origin}/mcp` };
    const granted = await authorize(server.origin, anna, { scope, ...resource });
    const { access_token: token } = await tokensOf(redeem(server.origin, granted));
    expect(decodeJwt(token).aud).toBe(resource.resource);
    expect(await refusalOf(await userinfo(token))).toEqual(unauthorized);
  });

  test('when it was changed', async () => {
    const { access_token: token } = await signedIn(anna, 'users.read');
    const [head, , signature] = token.split('.');
    const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token), scope })).toString('base64url');
    expect(await refusalOf(await userinfo(`${head}.${claims}.${signature}`))).toEqual(unauthorized);
  });

  test.each<[string, (tokens: TokenResponse, person: Person) => Promise<unknown>]>([
    ['it was revoked', ({ access_token: token }) => revoke(token)],
    ['the refresh token was revoked', ({ refresh_token: token = '' }) => revoke(token)],
    ['the grant was revoked', () => execute(`delete from oauth_records where model = 'Grant'`)],
    ['the user is suspended', (_, { id }) => execute(`update users set status = 'suspended' where id = ${id}`)],
    ['it has expired', () => execute(`update oauth_records set expires_at = now() - interval '1 second' where model = 'AccessToken'`)],
  ])('when %s', async (_, end) => {
    const person = await signUp(server.origin);
    const tokens = await signedIn(person);
    expect((await userinfo(tokens.access_token)).status).toBe(200);
    await end(tokens, person);
    expect(await refusalOf(await userinfo(tokens.access_token))).toEqual(unauthorized);
    expect(await apiStatus(server, tokens.access_token)).toBe(401);
  });

  const execute = (sql: string): Promise<unknown> => server.db.em.fork().execute(sql);
  const revoke = (token: string): Promise<unknown> =>
    fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body: new URLSearchParams({ token, client_id: commandLine.clientId }) });
});
