import { X509Certificate } from 'node:crypto';
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { createCertificate } from '../../support/network/create-certificate.ts';
import {
  createApplicationWithKeys,
  createClientAssertion,
  createClientKey,
  toAssertionForm,
} from '../../support/oauth/client-assertion.ts';
import {
  createApplicationWithCertificate,
  clientSubject,
  createAuthority,
  createClientCertificate,
  toJwkWithCertificate,
} from '../../support/application-keys/client-certificates.ts';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import {
  authorizationPath,
  buildAuthorizationRequest,
  completeSignUp,
  readOAuthError,
  tokenResponseSchema,
  type TokenResponse,
} from '../../support/oauth/oauth-flow.ts';
import { databaseKind } from '../../support/services/database.ts';
import {
  readErrorWithDescription,
  useMutualTlsServer,
  type ClientCertificate,
} from '../../support/application-keys/use-mutual-tls-server.ts';

const authority = createAuthority();
const certificate = createClientCertificate(authority);
const renewedCertificate = createClientCertificate(authority);
const selfSigned = createCertificate({ subject: [['CN', 'self-signed client']] });
const redirectUri = 'https://app.example/callback';
const subject = { type: 'subject_dn', value: 'CN=client,O=Example\\, Ltd.,C=DE' } as const;

// TLS does not depend on the database
describe.skipIf(databaseKind !== 'postgresql')('a server that requests client certificates', () => {
  const { server, fetchWith, post, requestTokens, callApi } = useMutualTlsServer(authority);
  const readTokens = async (response: Response): Promise<TokenResponse> => tokenResponseSchema.parse(await response.json());

  let machine: string;
  let selfSignedMachine: string;
  beforeAll(async () => {
    const settings = { tlsClientCertificateBoundAccessTokens: true };
    machine = await createApplicationWithCertificate(server.db, {
      tokenEndpointAuthMethod: 'tls_client_auth',
      tlsClientAuthSubject: subject,
      ...settings,
    });
    selfSignedMachine = await createApplicationWithCertificate(server.db, {
      tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
      jwks: { keys: [toJwkWithCertificate(selfSigned)] },
      ...settings,
    });
  });

  test('lists the authentication methods and bound tokens in its metadata', async () => {
    const response = await fetchWith(undefined)(new URL('/.well-known/openid-configuration', server.origin), {});
    expect(await response.json()).toMatchObject({
      token_endpoint_auth_methods_supported: expect.arrayContaining(['tls_client_auth', 'self_signed_tls_client_auth']),
      tls_client_certificate_bound_access_tokens: true,
    });
    const resource = await fetchWith(undefined)(new URL('/.well-known/oauth-protected-resource/api', server.origin), {});
    expect(await resource.json()).toMatchObject({ tls_client_certificate_bound_access_tokens: true });
  });

  describe('authenticates an application with tls_client_auth', () => {
    test.each([
      subject,
      { type: 'subject_dn', value: 'cn=client, O=Example\\2C Ltd., C=DE' },
      { type: 'san_dns', value: 'client.example' },
      { type: 'san_uri', value: 'spiffe://example.com/a,b' },
      { type: 'san_email', value: 'client@example.com' },
      { type: 'san_ip', value: '192.0.2.5' },
    ] as const)('by its $type $value', async (tlsClientAuthSubject) => {
      const client = await createApplicationWithCertificate(server.db, {
        tokenEndpointAuthMethod: 'tls_client_auth',
        tlsClientAuthSubject,
      });
      const { access_token: token, scope } = await readTokens(await requestTokens(client, certificate));
      expect(scope).toBe('users.manage');
      expect(decodeJwt(token)['cnf']).toBeUndefined();
      const other = createClientCertificate(authority, {
        subject: [['CN', 'other']],
        altNames: [{ type: 'dns', value: 'x.client.example' }],
      });
      expect(await readErrorWithDescription(await requestTokens(client, other))).toEqual([
        401,
        'invalid_client',
        'client certificate: certificate subject value does not match the registered one',
      ]);
    });

    test.each<[string, () => ClientCertificate, string]>([
      ['no certificate', () => undefined, 'client certificate was not provided'],
      ['a certificate of another authority', () => createClientCertificate(createAuthority()), 'client certificate was not verified'],
      ['a certificate that signs itself', () => createCertificate({ subject: [['CN', 'client']] }), 'client certificate was not verified'],
      [
        'a certificate that was issued by a client certificate',
        () => createClientCertificate(certificate),
        'client certificate was not verified',
      ],
      [
        'a certificate for servers only',
        () => createClientCertificate(authority, { purpose: 'server' }),
        'client certificate was not verified',
      ],
      [
        'a certificate that has expired',
        () => createClientCertificate(authority, { validFromDay: -10, validDays: -1 }),
        'the certificate has expired',
      ],
      [
        'a certificate that is not valid yet',
        () => createClientCertificate(authority, { validFromDay: 2 }),
        'the certificate is not valid yet',
      ],
      [
        'a subject with another order',
        () => createClientCertificate(authority, { subject: clientSubject.toReversed() }),
        'certificate subject value does not match the registered one',
      ],
      [
        'a subject that contains the registered one',
        () => createClientCertificate(authority, { subject: [['CN', 'client,O=Example\\, Ltd.,C=DE']] }),
        'certificate subject value does not match the registered one',
      ],
    ])('but not with %s', async (_label, createClient, reason) => {
      expect(await readErrorWithDescription(await requestTokens(machine, createClient()))).toEqual([
        401,
        'invalid_client',
        `client certificate: ${reason}`,
      ]);
    });

    test('but not with an assertion or a secret instead of the certificate', async () => {
      const assertion = await createClientAssertion(await createClientKey(), { clientId: machine, audience: server.origin });
      expect(await readOAuthError(await requestTokens(machine, undefined, toAssertionForm(assertion)))).toBe('401 invalid_client');
      expect(await readOAuthError(await requestTokens(machine, certificate, { client_secret: 'none' }))).toBe('401 invalid_client');
    });
  });

  test('authenticates an application with self_signed_tls_client_auth only by its registered certificate', async () => {
    expect((await requestTokens(selfSignedMachine, selfSigned)).status).toBe(200);
    for (const other of [createCertificate({ subject: [['CN', 'self-signed client']] }), certificate])
      expect(await readErrorWithDescription(await requestTokens(selfSignedMachine, other))).toEqual([
        401,
        'invalid_client',
        'client certificate: unregistered client certificate provided',
      ]);
    expect(await readOAuthError(await requestTokens(selfSignedMachine, undefined))).toBe('401 invalid_client');
    const expired = createCertificate({ subject: [['CN', 'expired']], validFromDay: -10, validDays: -1 });
    const client = await createApplicationWithCertificate(server.db, {
      tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
      jwks: { keys: [toJwkWithCertificate(expired)] },
    });
    expect(await readErrorWithDescription(await requestTokens(client, expired))).toEqual([
      401,
      'invalid_client',
      'client certificate: the certificate has expired',
    ]);
  });

  test("does not accept an application's certificate in a token request of another application", async () => {
    expect(await readOAuthError(await requestTokens(machine, selfSigned))).toBe('401 invalid_client');
    expect(await readOAuthError(await requestTokens(selfSignedMachine, certificate))).toBe('401 invalid_client');
  });

  describe('binds access tokens to the certificate', () => {
    test('which every API request needs, until the token is revoked', async () => {
      const { access_token: token, token_type: type } = await readTokens(await requestTokens(machine, certificate));
      const thumbprint = new X509Certificate(certificate.cert).fingerprint256.replaceAll(':', '').toLowerCase();
      const cnf = { 'x5t#S256': Buffer.from(thumbprint, 'hex').toString('base64url') };
      expect([type, decodeJwt(token)['cnf']]).toEqual(['Bearer', cnf]);
      for (const [client, status] of [
        [certificate, 200],
        [undefined, 401],
        [renewedCertificate, 401],
        [selfSigned, 401],
        [certificate, 200],
      ] as const)
        expect(await callApi(token, client)).toBe(status);
      const introspection = await post('introspection', { client_id: machine, token }, certificate);
      expect(await introspection.json()).toMatchObject({ active: true, token_type: 'Bearer', cnf });
      expect((await post('revocation', { client_id: machine, token }, certificate)).status).toBe(200);
      expect(await callApi(token, certificate)).toBe(401);
    });

    test('and gives a renewed certificate its own tokens', async () => {
      const { access_token: token } = await readTokens(await requestTokens(machine, renewedCertificate));
      expect([await callApi(token, renewedCertificate), await callApi(token, certificate)]).toEqual([200, 401]);
    });

    test('and rejects a token request without a certificate before it checks the code', async () => {
      const key = await createClientKey();
      const client = await createApplicationWithKeys(
        server.db,
        { jwks: { keys: [key.jwk] } },
        { tlsClientCertificateBoundAccessTokens: true },
      );
      const authenticate = async () => toAssertionForm(await createClientAssertion(key, { clientId: client, audience: server.origin }));
      expect(await readErrorWithDescription(await requestTokens(client, undefined, await authenticate()))).toEqual([
        400,
        'invalid_request',
        'this application must present its client certificate with each token request',
      ]);
      // the certificate does not authenticate this application, so the certificate does not need to be registered or trusted
      const { access_token: token } = await readTokens(await requestTokens(client, selfSigned, await authenticate()));
      expect([await callApi(token, selfSigned), await callApi(token, undefined)]).toEqual([200, 401]);
    });
  });

  describe('signs users in', () => {
    let browser: HttpBrowser;
    beforeAll(async () => {
      browser = new HttpBrowser(server.origin, undefined, fetchWith(undefined));
      const account = { name: 'Anna Test', email: 'anna@example.com', password: 'correct horse battery' };
      await completeSignUp(server.origin, browser, await browser.open('/sign-up'), account);
    });

    test('to an application with the security profile fapi2, whose tokens are bound to its certificate', async () => {
      const clientId = await createApplicationWithCertificate(server.db, {
        tokenEndpointAuthMethod: 'tls_client_auth',
        tlsClientAuthSubject: subject,
        tlsClientCertificateBoundAccessTokens: true,
        securityProfile: 'fapi2',
        grantTypes: ['authorization_code', 'refresh_token'],
        redirectUris: [redirectUri],
        scopes: ['users.read'],
      });
      const { query, verifier } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' });
      expect(await readOAuthError(await post('par', query, undefined))).toBe('401 invalid_client');
      const pushed = z.object({ request_uri: z.string() }).parse(await (await post('par', query, certificate)).json());
      const callback = await completeAuthorization(
        { browser },
        authorizationPath({ client_id: clientId, request_uri: pushed.request_uri }),
      );
      const form = {
        client_id: clientId,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        code: callback.searchParams.get('code') ?? '',
      };
      const tokens = await readTokens(await post('token', { grant_type: 'authorization_code', ...form }, certificate));
      const status = (client: ClientCertificate, path: string) => callApi(tokens.access_token, client, path);
      for (const path of ['/api/v1/users/me', '/oauth/userinfo'])
        expect([path, await status(certificate, path), await status(selfSigned, path), await status(undefined, path)]).toEqual([
          path,
          200,
          401,
          401,
        ]);
      const refreshForm = { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.refresh_token ?? '' };
      expect(await readOAuthError(await post('token', refreshForm, undefined))).toBe('401 invalid_client');
      // the refresh token is bound to the application, not to the certificate, which can be renewed
      const refreshed = await readTokens(await post('token', refreshForm, renewedCertificate));
      expect([refreshed.refresh_token, await callApi(refreshed.access_token, renewedCertificate, '/api/v1/users/me')]).toEqual([
        tokens.refresh_token,
        200,
      ]);
    });

    test('to a public application, whose refresh token is bound to the certificate', async () => {
      const clientId = await createApplicationWithCertificate(server.db, {
        type: 'public',
        grantTypes: ['authorization_code', 'refresh_token'],
        redirectUris: [redirectUri],
        scopes: ['users.read'],
        tlsClientCertificateBoundAccessTokens: true,
      });
      const { query, verifier } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid users.read' });
      const callback = await completeAuthorization({ browser }, authorizationPath(query));
      const form = {
        client_id: clientId,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        code: callback.searchParams.get('code') ?? '',
      };
      const codeForm = { grant_type: 'authorization_code', ...form };
      expect(await readOAuthError(await post('token', codeForm, undefined))).toBe('400 invalid_request');
      const { refresh_token: refreshToken = '', access_token: token } = await readTokens(await post('token', codeForm, selfSigned));
      expect([await callApi(token, selfSigned, '/api/v1/users/me'), await callApi(token, certificate, '/api/v1/users/me')]).toEqual([
        200, 401,
      ]);
      const refreshForm = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
      expect(await readOAuthError(await post('token', refreshForm, undefined))).toBe('400 invalid_request');
      expect(await readOAuthError(await post('token', refreshForm, certificate))).toBe('400 invalid_grant');
      expect((await post('token', refreshForm, selfSigned)).status).toBe(200);
    });
  });
});
