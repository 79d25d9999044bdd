import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  createApplicationWithCertificate,
  createAuthority,
  createClientCertificate,
  encodeCertificateHeader,
} from '../../support/application-keys/client-certificates.ts';
import { readOAuthError, sendTokenRequest, tokenResponseSchema } from '../../support/oauth/oauth-flow.ts';
import { useServer, type RunningServer } from '../../support/server/use-server.ts';

const authority = createAuthority();
const { cert } = createClientCertificate(authority);
const otherCertificate = createClientCertificate(authority).cert;
const header = 'client-cert';
const clientCertificates = { source: { kind: 'header', name: header }, authorities: [new X509Certificate(authority.cert)] } as const;

/** Encodes a certificate in the same way as nginx's variable `$ssl_client_escaped_cert`. */
const encodeEscapedPem = (pem: string): string => encodeURIComponent(pem);

const createMachine = (server: RunningServer): Promise<string> =>
  createApplicationWithCertificate(server.db, {
    tokenEndpointAuthMethod: 'tls_client_auth',
    tlsClientAuthSubject: { type: 'san_dns', value: 'client.example' },
    tlsClientCertificateBoundAccessTokens: true,
  });
const requestTokens = (server: RunningServer, clientId: string, headers: Record<string, string>): Promise<Response> =>
  sendTokenRequest(server.origin, { grant_type: 'client_credentials', client_id: clientId }, headers);

describe('behind a trusted proxy', () => {
  const server = useServer({ clientCertificates });
  let machine: string;
  beforeAll(async () => {
    machine = await createMachine(server);
  });

  test('the metadata lists no other endpoints for clients with certificates', async () => {
    const metadata: unknown = await (await fetch(`${server.origin}/.well-known/openid-configuration`)).json();
    expect(metadata).not.toHaveProperty('mtls_endpoint_aliases');
  });

  test.each([
    ['RFC 9440', encodeCertificateHeader],
    ['nginx', encodeEscapedPem],
  ])('an application is authenticated by the header in the format of %s, and its tokens are bound', async (_format, encode) => {
    const response = await requestTokens(server, machine, { [header]: encode(cert) });
    const { access_token: token } = tokenResponseSchema.parse(await response.json());
    const callApi = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${server.origin}/api/v1/users`, { headers: { authorization: `Bearer ${token}`, ...headers } })).status;
    // both formats contain the same certificate
    expect(await callApi({ [header]: encodeCertificateHeader(cert) })).toBe(200);
    expect(await callApi({ [header]: encodeEscapedPem(cert) })).toBe(200);
    expect(await callApi({ [header]: encode(otherCertificate) })).toBe(401);
    expect(await callApi({ [header]: '' })).toBe(401);
    expect(await callApi({})).toBe(401);
  });

  test.each<[string, Record<string, string>, string]>([
    ['no header', {}, 'client certificate was not provided'],
    ['an empty header', { [header]: '' }, 'client certificate was not provided'],
    ['an empty byte sequence', { [header]: '::' }, 'client certificate was not provided'],
    ['another header', { 'x-client-cert': encodeCertificateHeader(cert) }, 'client certificate was not provided'],
    ...(
      [
        ['two certificates', `${encodeCertificateHeader(cert)}, ${encodeCertificateHeader(otherCertificate)}`],
        ['two escaped certificates', encodeEscapedPem(cert + otherCertificate)],
        ['unescaped base64', new X509Certificate(cert).raw.toString('base64')],
        ['bytes that are no certificate', ':bm90IGEgY2VydGlmaWNhdGU=:'],
        ['a truncated certificate', `${encodeCertificateHeader(cert).slice(0, 200)}:`],
        ['an invalid escape', '-----BEGIN%20CERTIFICATE-----%0AMII%ZZ%0A-----END%20CERTIFICATE-----'],
        ['text', 'CN=client'],
      ] as const
    ).map(([label, value]): [string, Record<string, string>, string] => [
      label,
      { [header]: value },
      'the proxy header does not contain exactly one certificate in a supported format',
    ]),
  ])('an application is not authenticated by %s', async (_label, headers, reason) => {
    const response = await requestTokens(server, machine, headers);
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: 'invalid_client', error_description: `client certificate: ${reason}` },
    ]);
  });
});

describe('with another URL for clients with certificates', () => {
  const server = useServer({ clientCertificates: { ...clientCertificates, url: 'https://mtls.shop.example' } });

  test.each(['openid-configuration', 'oauth-authorization-server'])('the metadata %s lists the endpoints at this URL', async (document) => {
    const metadata: unknown = await (await fetch(`${server.origin}/.well-known/${document}`)).json();
    expect(metadata).toMatchObject({
      token_endpoint: `${server.origin}/oauth/token`,
      mtls_endpoint_aliases: {
        token_endpoint: 'https://mtls.shop.example/oauth/token',
        revocation_endpoint: 'https://mtls.shop.example/oauth/revocation',
        introspection_endpoint: 'https://mtls.shop.example/oauth/introspection',
        userinfo_endpoint: 'https://mtls.shop.example/oauth/userinfo',
        pushed_authorization_request_endpoint: 'https://mtls.shop.example/oauth/par',
        device_authorization_endpoint: 'https://mtls.shop.example/oauth/device-authorization',
      },
    });
  });
});

describe('from an address that is not a trusted proxy', () => {
  const server = useServer({ clientCertificates, trustProxy: '192.0.2.1' });

  test('the header is ignored', async () => {
    const machine = await createMachine(server);
    for (const value of [encodeCertificateHeader(cert), encodeEscapedPem(cert)]) {
      const response = await requestTokens(server, machine, { [header]: value, 'x-forwarded-for': '192.0.2.1' });
      expect([response.status, await response.json()]).toEqual([
        401,
        { error: 'invalid_client', error_description: 'client certificate: client certificate was not provided' },
      ]);
    }
  });
});

describe('a server that no longer accepts client certificates', () => {
  const server = useServer();

  test('rejects applications that need them, instead of issuing tokens that are not bound', async () => {
    const machine = await createMachine(server);
    expect(await readOAuthError(await requestTokens(server, machine, { [header]: encodeCertificateHeader(cert) }))).toMatch(
      /invalid_client$/,
    );
    const metadata: unknown = await (await fetch(`${server.origin}/.well-known/openid-configuration`)).json();
    expect(metadata).not.toHaveProperty('tls_client_certificate_bound_access_tokens');
  });
});
