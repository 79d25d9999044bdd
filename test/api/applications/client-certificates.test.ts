import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createRegistrationToken } from '../../../server/access-management/create-registration-token.ts';
import { Application } from '../../../server/applications/application.entity.ts';
import { createCertificate } from '../../support/network/create-certificate.ts';
import { createClientKey } from '../../support/oauth/client-assertion.ts';
import { createAuthority, toJwkWithCertificate } from '../../support/application-keys/client-certificates.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { withShop, type Shop } from '../../support/shop/with-shop.ts';

const source = { kind: 'header', name: 'client-cert' } as const;
const authorities = [new X509Certificate(createAuthority().cert)];
const certificate = createCertificate({ subject: [['CN', 'client']] });

const machine = { name: 'Some machine', type: 'confidential', scopes: ['users.manage'], grant_types: ['client_credentials'] };
const subject = { type: 'subject_dn', value: 'CN=client,O=Example' };
const withSubject = { ...machine, token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_subject: subject };
const withCertificate = {
  ...machine,
  token_endpoint_auth_method: 'self_signed_tls_client_auth',
  jwks: { keys: [toJwkWithCertificate(certificate)] },
};

const createCaller = (shop: Shop) => {
  const admin = shop.admin(['applications.manage']);
  return async (method: string, path: string, body: object) => {
    const response = await shop.callApi(method, `/api/v1/applications${path}`, { token: admin.token, body });
    return { ...response, error: [response.status, response.body.errors?.[0]?.pointer, response.body.errors?.[0]?.detail] };
  };
};

describe('a server that accepts client certificates', () => {
  const shop = withShop({ sampleData: false, clientCertificates: { source, authorities } });
  const call = createCaller(shop);

  test('registers an application with a name in its certificate, and changes the name', async () => {
    const { body } = await call('POST', '', { ...withSubject, tls_client_certificate_bound_access_tokens: true });
    expect(body).toMatchObject({
      token_endpoint_auth_method: 'tls_client_auth',
      tls_client_auth_subject: subject,
      tls_client_certificate_bound_access_tokens: true,
      jwks: null,
      client_secret: null,
    });
    const next = { type: 'san_dns', value: 'client.example' };
    expect((await call('PATCH', `/${body.id}`, { tls_client_auth_subject: next })).body.tls_client_auth_subject).toEqual(next);
    expect((await call('PATCH', `/${body.id}`, { name: 'Renamed' })).body.tls_client_auth_subject).toEqual(next);
    const rotation = await call('POST', `/${body.id}/secret-rotations`, {});
    expect([rotation.status, rotation.body.detail]).toEqual([409, expect.stringContaining('tls_client_auth has no secret')]);
    const back = await call('PATCH', `/${body.id}`, { token_endpoint_auth_method: 'client_secret_basic' });
    expect(back.body).toMatchObject({ token_endpoint_auth_method: 'client_secret_basic', tls_client_auth_subject: null });
  });

  test('registers an application with its own certificate, and replaces the certificate', async () => {
    const { body } = await call('POST', '', withCertificate);
    const { kty, crv, x, y, x5c } = body.jwks.keys[0];
    expect([{ kty, crv, x, y, x5c }, body.client_secret]).toEqual([toJwkWithCertificate(certificate), null]);
    const next = toJwkWithCertificate(createCertificate({ subject: [['CN', 'client']] }));
    expect((await call('PATCH', `/${body.id}`, { jwks: { keys: [next] } })).body.jwks.keys).toEqual([next]);
    const rotation = await call('POST', `/${body.id}/secret-rotations`, {});
    expect([rotation.status, rotation.body.detail]).toEqual([409, expect.stringContaining('change jwks')]);
  });

  test('accepts both methods with the security profile fapi2', async () => {
    for (const application of [withSubject, withCertificate])
      expect((await call('POST', '', { ...application, security_profile: 'fapi2' })).status).toBe(201);
  });

  describe('lets an application register itself (RFC 7591)', () => {
    const metadata = {
      client_name: 'Some program',
      redirect_uris: ['https://dev.example/cb'],
      grant_types: ['authorization_code'],
      scope: 'openid orders.read',
      token_endpoint_auth_method: 'tls_client_auth',
    };
    const register = async (fields: object): Promise<[number, JsonBody]> => {
      const { token } = await createRegistrationToken(shop.db.em, 600, new Date());
      const response = await fetch(`${shop.origin}/oauth/registration`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ ...metadata, ...fields }),
      });
      return [response.status, await response.json()];
    };
    const findApplication = (clientId: string) => shop.db.em.fork().findOneOrFail(Application, { clientId });

    test.each([
      ['tls_client_auth_san_uri', 'san_uri', 'spiffe://example.com/client'],
      ['tls_client_auth_subject_dn', 'subject_dn', 'CN=client'],
    ])('with %s', async (field, type, value) => {
      const fields = { [field]: value, tls_client_certificate_bound_access_tokens: true };
      const [status, body] = await register(fields);
      expect([status, body]).toEqual([201, expect.objectContaining({ token_endpoint_auth_method: 'tls_client_auth', ...fields })]);
      expect(body).not.toHaveProperty('client_secret');
      const stored = await findApplication(body.client_id);
      expect([stored.certificateAuthMethod, stored.tlsClientAuthSubject, stored.tlsClientCertificateBoundAccessTokens]).toEqual([
        'tls_client_auth',
        { type, value },
        true,
      ]);
    });

    test('with its own certificate', async () => {
      const { token_endpoint_auth_method: method, jwks } = withCertificate;
      const [status, body] = await register({ token_endpoint_auth_method: method, jwks });
      expect([status, body.jwks?.keys[0]?.x5c]).toEqual([201, [expect.any(String)]]);
      expect((await findApplication(body.client_id)).certificateAuthMethod).toBe('self_signed_tls_client_auth');
    });

    test.each<[string, object, string]>([
      ['without a name', {}, 'one of tls_client_auth_subject_dn'],
      ['with two names', { tls_client_auth_subject_dn: 'CN=client', tls_client_auth_san_dns: 'client.example' }, 'only one'],
      ['with an invalid name', { tls_client_auth_san_ip: 'client' }, 'must be an IP address'],
      ['without its certificate', { token_endpoint_auth_method: 'self_signed_tls_client_auth' }, 'jwks must be set'],
    ])('but not %s', async (_label, fields, reason) => {
      const [status, body] = await register(fields);
      expect([status, body.error, body.error_description]).toEqual([400, 'invalid_client_metadata', expect.stringContaining(reason)]);
    });
  });

  const invalidSubject = (type: string, value: string) => ({ ...withSubject, tls_client_auth_subject: { type, value } });
  test.each<[string, () => object | Promise<object>, string, string]>([
    ['no name', () => ({ ...withSubject, tls_client_auth_subject: null }), '#/tls_client_auth_subject', 'must be set for tls_client_auth'],
    [
      'a name without tls_client_auth',
      () => ({ ...machine, tls_client_auth_subject: subject }),
      '#/tls_client_auth_subject',
      'requires token_endpoint_auth_method to be tls_client_auth',
    ],
    ['an incomplete name', () => invalidSubject('subject_dn', 'client'), '#/tls_client_auth_subject', 'in RFC 4514 format'],
    ['a name with an empty part', () => invalidSubject('subject_dn', 'CN=client,,O=x'), '#/tls_client_auth_subject', 'RFC 4514'],
    ['a wildcard', () => invalidSubject('san_dns', '*.example.com'), '#/tls_client_auth_subject', 'without a wildcard'],
    ['a relative URI', () => invalidSubject('san_uri', '/client'), '#/tls_client_auth_subject', 'must be an absolute URI'],
    ['an invalid address', () => invalidSubject('san_ip', '192.0.2.500'), '#/tls_client_auth_subject', 'must be an IP address'],
    ['an invalid e-mail address', () => invalidSubject('san_email', 'client'), '#/tls_client_auth_subject', 'must be an e-mail address'],
    ['an unknown type', () => invalidSubject('san_other', 'x'), '#/tls_client_auth_subject/type', ''],
    [
      'a key without a certificate',
      async () => ({ ...withCertificate, jwks: { keys: [(await createClientKey()).jwk] } }),
      '#/jwks',
      'must contain a key with a certificate in x5c',
    ],
    [
      'a certificate of another key',
      async () => ({
        ...withCertificate,
        jwks: { keys: [{ ...(await createClientKey()).jwk, x5c: withCertificate.jwks.keys.flatMap((key) => Object(key).x5c) }] },
      }),
      '#/jwks',
      'does not match the first certificate',
    ],
    [
      'an unreadable certificate',
      async () => ({ ...withCertificate, jwks: { keys: [{ ...(await createClientKey()).jwk, x5c: ['AAAA'] }] } }),
      '#/jwks',
      'is not a base64-encoded DER certificate',
    ],
    [
      'an empty list of certificates',
      async () => ({ ...withCertificate, jwks: { keys: [{ ...(await createClientKey()).jwk, x5c: [] }] } }),
      '#/jwks',
      'must be a list of base64-encoded DER certificates',
    ],
    [
      'certificates at a URL',
      () => ({ ...withCertificate, jwks_uri: 'https://keys.example/jwks.json' }),
      '#/jwks_uri',
      'add the certificates to jwks',
    ],
  ])('rejects %s', async (_label, body, pointer, detail) => {
    const { error } = await call('POST', '', await body());
    expect(error).toEqual([400, pointer, expect.stringMatching(new RegExp(detail, 'i'))]);
  });
});

describe('a server without the certificate of an authority', () => {
  const shop = withShop({ sampleData: false, clientCertificates: { source, authorities: [] } });
  const call = createCaller(shop);

  test('accepts only registered certificates', async () => {
    expect((await call('POST', '', withCertificate)).status).toBe(201);
    expect((await call('POST', '', withSubject)).error).toEqual([
      400,
      '#/token_endpoint_auth_method',
      expect.stringContaining('MANDATE_CLIENT_CA'),
    ]);
  });
});

describe('a server that accepts no client certificates', () => {
  const shop = withShop({ sampleData: false });
  const call = createCaller(shop);

  test('states which variable its operator must set', async () => {
    const missing = expect.stringContaining('MANDATE_CLIENT_CERTIFICATES');
    for (const application of [withSubject, withCertificate])
      expect((await call('POST', '', application)).error).toEqual([400, '#/token_endpoint_auth_method', missing]);
    const { body } = await call('POST', '', machine);
    const pointer = '#/tls_client_certificate_bound_access_tokens';
    expect((await call('PATCH', `/${body.id}`, { tls_client_certificate_bound_access_tokens: true })).error).toEqual([
      400,
      pointer,
      missing,
    ]);
  });
});
