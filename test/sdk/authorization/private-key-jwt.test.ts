import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createClient } from '@mandate/client-sdk';
import {
  beginAuthorization,
  clientCredentials,
  completeAuthorization,
  discover,
  memoryStore,
  refreshingTokens,
  revoke,
} from '@mandate/client-sdk/authorization';
import { importClientKey, privateKeyJwt, type ClientKeyAlgorithm } from '@mandate/client-sdk/private-key-jwt';
import { createServerSignIn } from '@mandate/client-sdk/server';
import { describe, expect, test } from 'vitest';
import { createApplicationWithKeys } from '../../support/oauth/client-assertion.ts';
import { completeAuthorization as completeInBrowser } from '../../support/oauth/complete-authorization.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const redirectUri = 'https://app.example/callback';

const generate = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} satisfies Record<ClientKeyAlgorithm, unknown>;

/** Creates a key. Returns the key as PEM text for the application, and as a JWK for the application's registration. */
function createKey(algorithm: ClientKeyAlgorithm) {
  const { privateKey, publicKey } = generate[algorithm]();
  const kid = randomUUID();
  return { kid, pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), jwk: { ...publicKey.export({ format: 'jwk' }), kid } };
}

const authenticateWith = async ({ pem, kid }: ReturnType<typeof createKey>, algorithm: ClientKeyAlgorithm) =>
  privateKeyJwt({ privateKey: await importClientKey(pem, algorithm), keyId: kid });

/** Creates an application that signs users in. Returns the client ID and the client authentication. */
async function createWebApplication() {
  const key = createKey('ES256');
  const application = { grantTypes: ['authorization_code', 'refresh_token'], redirectUris: [redirectUri], scopes: ['users.read'] } as const;
  const clientId = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } }, application);
  return { clientId, clientAuthentication: await authenticateWith(key, 'ES256') };
}

describe('a server-side application signs in with its key', () => {
  test.each(['ES256', 'PS256', 'EdDSA'] as const)(
    'by client credentials, with a new assertion for each request (%s)',
    async (algorithm) => {
      const key = createKey(algorithm);
      const clientId = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } });
      const clientAuthentication = await authenticateWith(key, algorithm);
      const auth = clientCredentials({ issuer: server.origin, clientId, clientAuthentication });
      const { data } = await createClient({ baseUrl: server.origin, auth }).users.list({ limit: 1 });
      expect(data).toBeInstanceOf(Array);
      const first = await auth.accessToken();
      expect(await auth.replacement?.(first)).not.toBe(first);
    },
  );

  test('by authorization code, refresh and revocation', async () => {
    const { clientId, clientAuthentication } = await createWebApplication();
    const metadata = await discover(server.origin);
    const anna = await signUp(server.origin);
    const request = await beginAuthorization(metadata, { clientId, redirectUri, scopes: ['openid', 'offline_access', 'users.read'] });
    const callback = await completeInBrowser(anna, request.url);
    const tokens = await completeAuthorization(metadata, { ...request, clientAuthentication }, callback);
    const store = memoryStore({ ...tokens, expiresAt: 0 });
    const auth = refreshingTokens({ issuer: server.origin, clientId, clientAuthentication, store });
    expect((await createClient({ baseUrl: server.origin, auth }).users.me()).email).toBe(anna.email);
    await revoke(metadata, { clientId, clientAuthentication }, (await store.read())?.refreshToken ?? '');
    await expect(createClient({ baseUrl: server.origin, auth }).users.me()).rejects.toThrow('The grant has expired or been revoked');
  });

  test('and signs users in to server-rendered pages', async () => {
    const { clientId, clientAuthentication } = await createWebApplication();
    const signIn = createServerSignIn({
      issuer: server.origin,
      clientId,
      clientAuthentication,
      redirectUri,
      scopes: ['users.read'],
      cookieSecrets: ['a secret of at least thirty-two characters'],
    });
    const started = await signIn.startSignIn(new Request('https://app.example/sign-in'));
    const callback = await completeInBrowser(await signUp(server.origin), started.headers.get('location') ?? '');
    const cookie = started.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    const completed = await signIn.completeSignIn(new Request(callback, { headers: { cookie } }));
    expect([completed.status, completed.headers.getSetCookie().length]).toEqual([303, 2]);
  });
});

test("a key that is not registered is rejected with the server's reason", async () => {
  const key = createKey('ES256');
  const clientId = await createApplicationWithKeys(server.db, { jwks: { keys: [key.jwk] } });
  const clientAuthentication = await authenticateWith({ ...createKey('ES256'), kid: key.kid }, 'ES256');
  const auth = clientCredentials({ issuer: server.origin, clientId, clientAuthentication });
  await expect(auth.accessToken()).rejects.toMatchObject({ name: 'AuthorizationError', error: 'invalid_client' });
});

test.each([
  ['an encrypted key', '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----'],
  ['a key in the format SEC 1', '-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----'],
  ['other text', 'key'],
])('%s is rejected with the expected format', async (_label, pem) => {
  await expect(importClientKey(pem, 'ES256')).rejects.toThrow('PKCS #8');
});
