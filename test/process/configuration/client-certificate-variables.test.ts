import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../../server/config/read-config.ts';
import { createSelfSignedCertificate } from '../../support/network/self-signed-certificate.ts';
import { createAuthority, createClientCertificate } from '../../support/application-keys/client-certificates.ts';
import { createDataDirectory } from '../../support/server/server-process.ts';

const proxy = { MANDATE_CLIENT_CERTIFICATES: 'proxy', MANDATE_TRUST_PROXY: '10.0.0.1' };

test.each([
  [{}, undefined],
  [{ MANDATE_CLIENT_CERTIFICATES: 'off' }, undefined],
  [{ MANDATE_CLIENT_CERTIFICATES: '' }, undefined],
  [proxy, { source: { kind: 'header', name: 'client-cert' }, authoritiesFile: undefined }],
  [
    { ...proxy, MANDATE_CLIENT_CERTIFICATE_HEADER: 'X-SSL-Client-Cert' },
    { source: { kind: 'header', name: 'x-ssl-client-cert' }, authoritiesFile: undefined },
  ],
  [
    { ...proxy, MANDATE_CLIENT_CERTIFICATE_URL: 'https://mtls.shop.example:8443/shop/' },
    { source: { kind: 'header', name: 'client-cert' }, authoritiesFile: undefined, url: 'https://mtls.shop.example:8443/shop' },
  ],
])('%j is accepted', (env, expected) => {
  expect(readConfig(env).clientCertificates).toEqual(expected);
});

test('tls is accepted if the server terminates TLS', async () => {
  await using directory = await createDataDirectory();
  const [certFile, keyFile] = [join(directory.path, 'tls.crt'), join(directory.path, 'tls.key')];
  const { cert, key } = createSelfSignedCertificate();
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const config = readConfig({ MANDATE_CLIENT_CERTIFICATES: 'tls', MANDATE_TLS_CERT: certFile, MANDATE_TLS_KEY: keyFile });
  expect(config.clientCertificates).toEqual({ source: { kind: 'tls' }, authoritiesFile: undefined });
});

test.each([
  [{ MANDATE_CLIENT_CERTIFICATES: 'on' }, 'MANDATE_CLIENT_CERTIFICATES must be off or tls or proxy'],
  [{ MANDATE_CLIENT_CERTIFICATES: 'tls' }, 'MANDATE_CLIENT_CERTIFICATES must be off or proxy, unless the server terminates TLS'],
  [{ MANDATE_CLIENT_CERTIFICATES: 'proxy' }, 'MANDATE_TRUST_PROXY must be the addresses of the proxies'],
  [{ ...proxy, MANDATE_TRUST_PROXY: '1' }, 'MANDATE_TRUST_PROXY must be the addresses of the proxies'],
  [{ MANDATE_CLIENT_CERTIFICATE_HEADER: 'X-Cert' }, 'MANDATE_CLIENT_CERTIFICATE_HEADER requires MANDATE_CLIENT_CERTIFICATES=proxy'],
  [
    { MANDATE_CLIENT_CERTIFICATE_URL: 'https://mtls.shop.example' },
    'MANDATE_CLIENT_CERTIFICATE_URL requires MANDATE_CLIENT_CERTIFICATES=proxy',
  ],
  [{ ...proxy, MANDATE_CLIENT_CERTIFICATE_URL: 'mtls.shop.example' }, 'MANDATE_CLIENT_CERTIFICATE_URL must be a URL'],
  ...['a b', '-x', 'x:', 'é', 'x'.repeat(65)].map((name): [Record<string, string>, string] => [
    { ...proxy, MANDATE_CLIENT_CERTIFICATE_HEADER: name },
    'MANDATE_CLIENT_CERTIFICATE_HEADER must be the name of a header',
  ]),
  [{ MANDATE_CLIENT_CA: '/nowhere/ca.crt' }, 'MANDATE_CLIENT_CA requires MANDATE_CLIENT_CERTIFICATES to be tls or proxy'],
  [{ ...proxy, MANDATE_CLIENT_CA: '/nowhere/ca.crt' }, 'MANDATE_CLIENT_CA must be a file that can be read (ENOENT)'],
])('%j is rejected', (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
});

test('the file with the certificates of the authorities must contain only authority certificates', async () => {
  await using directory = await createDataDirectory();
  const path = join(directory.path, 'ca.crt');
  const read = () => readConfig({ ...proxy, MANDATE_CLIENT_CA: path }).clientCertificates;
  const authority = createAuthority();
  await writeFile(path, authority.cert + createAuthority().cert);
  expect(read()).toEqual({ source: { kind: 'header', name: 'client-cert' }, authoritiesFile: path });
  for (const [content, message] of [
    ['', 'must contain certificates in PEM form'],
    [authority.cert + createClientCertificate(authority).cert, 'but certificate 2 has no basic constraint CA:TRUE'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'but certificate 1 is not valid'],
  ] as const) {
    await writeFile(path, content);
    expect(read).toThrow(message);
  }
});
