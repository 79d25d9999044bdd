import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { createApplication, type ApplicationInput } from '../../../server/applications/validate-and-create-application.ts';
import type { HttpBrowser, HtmlPage } from '../../support/browser/browser.ts';
import {
  authorizationPath,
  basicAuthorization,
  buildAuthorizationRequest,
  readOAuthError,
  sendTokenRequest,
  signUp,
  tokenResponseSchema,
  type ClientCredentials,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const redirectUri = 'https://app.example/callback';
const nonce = 'a-nonce-of-the-session';

type Exceptions = Pick<ApplicationInput, 'allowNonceInsteadOfPkce' | 'allowNeitherPkceNorNonce'>;

async function createOldClient(exceptions: Exceptions = { allowNonceInsteadOfPkce: true }): Promise<ClientCredentials> {
  const clientId = `client-${randomBytes(6).toString('hex')}`;
  const { secret } = await createApplication(server.db.em.fork(), {
    clientId,
    name: 'Old client',
    type: 'confidential',
    redirectUris: [redirectUri],
    scopes: ['orders.read'],
    grantTypes: ['authorization_code', 'refresh_token'],
    ...exceptions,
  });
  return { clientId, secret: secret ?? '' };
}

const requestOf = ({ clientId }: ClientCredentials, parameters: Record<string, string>): Record<string, string> => {
  const {
    code_challenge: _challenge,
    code_challenge_method: _method,
    ...query
  } = buildAuthorizationRequest({
    client_id: clientId,
    redirect_uri: redirectUri,
  }).query;
  return { ...query, scope: 'openid', ...parameters };
};

async function authorize(browser: HttpBrowser, path: string): Promise<URLSearchParams> {
  let page: HtmlPage = await browser.open(path);
  if (page.url.pathname.startsWith('/consent/')) page = await browser.submit(page, { decision: 'allow' });
  if (!page.externalRedirect) throw new Error(`the authorization ended at ${page.url.pathname}: ${page.text}`);
  return page.externalRedirect.searchParams;
}

const redeem = (client: ClientCredentials, code: string | null, form: Record<string, string> = {}): Promise<Response> =>
  sendTokenRequest(
    server.origin,
    { grant_type: 'authorization_code', code: code ?? '', redirect_uri: redirectUri, ...form },
    basicAuthorization(client.clientId, client.secret),
  );

describe('an application that may send a nonce instead of PKCE', () => {
  test('gets a code without a challenge, and an ID token that contains the nonce', async () => {
    const { browser } = await signUp(server.origin);
    const client = await createOldClient();
    const response = await authorize(browser, authorizationPath(requestOf(client, { nonce })));
    const tokens = await redeem(client, response.get('code'));
    expect(tokens.status).toBe(200);
    expect(decodeJwt(tokenResponseSchema.parse(await tokens.json()).id_token ?? '')).toMatchObject({ nonce, aud: client.clientId });
  });

  test.each([
    ['without a nonce', {}, 'the request needs code_challenge (PKCE), or nonce together with the openid scope'],
    ['with an empty nonce', { nonce: '' }, 'the request needs code_challenge (PKCE), or nonce together with the openid scope'],
    ['if no ID token would contain the nonce', { nonce, scope: 'orders.read' }, expect.stringContaining('openid scope must be requested')],
  ])('cannot omit the challenge %s', async (_label, parameters, description) => {
    const { browser } = await signUp(server.origin);
    const response = await authorize(browser, authorizationPath(requestOf(await createOldClient(), parameters)));
    expect(Object.fromEntries(response)).toMatchObject({ error: 'invalid_request', error_description: description });
  });

  test('must send the verifier of a challenge, and cannot send a verifier without a challenge (38)', async () => {
    const { browser } = await signUp(server.origin);
    const client = await createOldClient();
    const { query, verifier } = buildAuthorizationRequest({ client_id: client.clientId, redirect_uri: redirectUri, scope: 'openid' });
    const withChallenge = (await authorize(browser, authorizationPath(query))).get('code');
    expect(await readOAuthError(await redeem(client, withChallenge))).toBe('400 invalid_grant');
    expect((await redeem(client, withChallenge, { code_verifier: verifier })).status).toBe(200);
    const withoutChallenge = (await authorize(browser, authorizationPath(requestOf(client, { nonce })))).get('code');
    expect(await readOAuthError(await redeem(client, withoutChallenge, { code_verifier: verifier }))).toBe('400 invalid_grant');
  });

  test('can push such a request', async () => {
    const client = await createOldClient();
    const push = (parameters: Record<string, string>): Promise<Response> =>
      fetch(`${server.origin}/oauth/par`, {
        method: 'POST',
        body: new URLSearchParams(requestOf(client, parameters)),
        headers: basicAuthorization(client.clientId, client.secret),
      });
    expect((await push({ nonce })).status).toBe(201);
    expect(await readOAuthError(await push({}))).toBe('400 invalid_request');
  });

  test('needs PKCE from the next request on when an administrator withdraws the permission', async () => {
    const { browser } = await signUp(server.origin);
    const client = await createOldClient();
    const path = authorizationPath(requestOf(client, { nonce }));
    expect((await authorize(browser, path)).has('code')).toBe(true);
    await server.db.em.fork().execute('update applications set allow_nonce_instead_of_pkce = false where client_id = ?', [client.clientId]);
    expect((await authorize(browser, path)).get('error')).toBe('invalid_request');
  });
});

describe('an application that may send neither PKCE nor a nonce', () => {
  const createUnprotectedClient = (): Promise<ClientCredentials> => createOldClient({ allowNeitherPkceNorNonce: true });

  test('gets a code without either, and the ID token has no nonce', async () => {
    const { browser } = await signUp(server.origin);
    const client = await createUnprotectedClient();
    const response = await authorize(browser, authorizationPath(requestOf(client, {})));
    const tokens = await redeem(client, response.get('code'));
    expect(tokens.status).toBe(200);
    expect(decodeJwt(tokenResponseSchema.parse(await tokens.json()).id_token ?? '')).not.toHaveProperty('nonce');
  });

  test('must still send the verifier of a challenge', async () => {
    const { browser } = await signUp(server.origin);
    const client = await createUnprotectedClient();
    const { query, verifier } = buildAuthorizationRequest({ client_id: client.clientId, redirect_uri: redirectUri, scope: 'openid' });
    const { code } = Object.fromEntries(await authorize(browser, authorizationPath(query)));
    expect(await readOAuthError(await redeem(client, code ?? null))).toBe('400 invalid_grant');
    expect((await redeem(client, code ?? null, { code_verifier: verifier })).status).toBe(200);
  });
});

test('other applications, and every public application, need PKCE even with a nonce (8, 9)', async () => {
  const { browser } = await signUp(server.origin);
  const other = await createOldClient({});
  const changed = await createOldClient({ allowNonceInsteadOfPkce: true, allowNeitherPkceNorNonce: true });
  await server.db.em
    .fork()
    .execute(`update applications set type = 'public', secret_hashes = '{}' where client_id = ?`, [changed.clientId]);
  for (const client of [other, changed]) {
    const response = await authorize(browser, authorizationPath(requestOf(client, { nonce })));
    expect([response.get('error'), response.get('code')]).toEqual(['invalid_request', null]);
  }
});
