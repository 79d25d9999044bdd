import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type SecureVersion } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import type { CertificateWithKey } from '../../support/network/create-certificate.ts';
import { createSelfSignedCertificate } from '../../support/network/self-signed-certificate.ts';
import { createAuthority } from '../../support/application-keys/client-certificates.ts';
import { createHttpsFetch } from '../../support/oauth/https-server.ts';
import { createDatabaseEnvironment } from '../../support/services/database.ts';
import { killServerProcesses, runServerUntilExit, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';

afterEach(killServerProcesses);

const fingerprint = ({ cert }: Pick<CertificateWithKey, 'cert'>): string => new X509Certificate(cert).fingerprint256;

/** Returns the fingerprint of the certificate that the server presents on a new connection. */
async function presentedFingerprint(port: number): Promise<string> {
  const socket = connect({ port, host: 'localhost', servername: 'localhost', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Returns whether the server accepts a connection with only the given TLS version and cipher suite. */
async function acceptsCipher(port: number, version: SecureVersion, ciphers: string): Promise<boolean> {
  const versions = { minVersion: version, maxVersion: version };
  // @SECLEVEL=0, so that the client itself does not reject the suite
  const options = { ...versions, ciphers: `${ciphers}:@SECLEVEL=0`, servername: 'localhost', rejectUnauthorized: false };
  const socket = connect({ port, host: 'localhost', ...options });
  try {
    await once(socket, 'secureConnect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Cipher suites for TLS 1.2 that are compatible with the server's certificate: those that RFC 9325 section 4.2 recommends, and others. */
const recommendedCiphers = ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'];
const otherCiphers = ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305'];

async function expectRecommendedTlsSettings(port: number): Promise<void> {
  for (const cipher of recommendedCiphers) expect([cipher, await acceptsCipher(port, 'TLSv1.2', cipher)]).toEqual([cipher, true]);
  for (const cipher of otherCiphers) expect([cipher, await acceptsCipher(port, 'TLSv1.2', cipher)]).toEqual([cipher, false]);
  expect(await acceptsCipher(port, 'TLSv1.3', 'TLS_AES_128_GCM_SHA256:DEFAULT')).toBe(true);
  expect(await acceptsCipher(port, 'TLSv1.1', 'ECDHE-ECDSA-AES128-SHA')).toBe(false);
}

/** Starts a request. `finish` sends the rest of the body and returns the response status. */
async function beginRequest(port: number, ca: string): Promise<{ readonly finish: () => Promise<unknown> }> {
  const body = 'grant_type=client_credentials';
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
  const outgoing = request({ port, host: 'localhost', path: '/oauth/token', method: 'POST', headers, ca, agent: false });
  outgoing.write(body.slice(0, 10));
  await once(outgoing, 'socket');
  return {
    async finish() {
      const responded = once(outgoing, 'response');
      outgoing.end(body.slice(10));
      const [incoming] = await responded;
      incoming.resume();
      return incoming.statusCode;
    },
  };
}

describe('TLS with certificate files', { timeout: 300_000 }, () => {
  test('accepts only recommended cipher suites, uses changed files without closing open connections, and ignores a key that does not match the certificate', async () => {
    await using data = await createDataDirectory();
    const [certFile, keyFile] = [join(data.path, 'tls.crt'), join(data.path, 'tls.key')];
    const put = async ({ cert, key }: CertificateWithKey): Promise<void> => {
      await writeFile(certFile, cert);
      await writeFile(keyFile, key);
    };
    const [one, two, three] = [createSelfSignedCertificate(), createSelfSignedCertificate(), createSelfSignedCertificate(3)];
    await put(one);
    const authoritiesFile = join(data.path, 'ca.crt');
    await writeFile(authoritiesFile, createAuthority().cert);
    const clientCertificates = { MANDATE_CLIENT_CERTIFICATES: 'tls', MANDATE_CLIENT_CA: authoritiesFile };
    const files = { MANDATE_TLS_CERT: certFile, MANDATE_TLS_KEY: keyFile };
    const server = await startServerProcess({
      MANDATE_DATA_DIR: data.path,
      ...(await createDatabaseEnvironment()),
      ...files,
      ...clientCertificates,
    });
    const port = Number(new URL(server.url).port);
    const metadata = await createHttpsFetch({ ca: one.cert })(new URL(`https://localhost:${port}/.well-known/openid-configuration`), {});
    expect(await metadata.json()).toMatchObject({
      token_endpoint_auth_methods_supported: expect.arrayContaining(['tls_client_auth', 'self_signed_tls_client_auth']),
    });
    expect(server.output()).toContain(`https://localhost:${port}/api/v1`);
    await expectRecommendedTlsSettings(port);
    // the client verifies this connection against the first certificate
    const pendingRequest = await beginRequest(port, one.cert);
    await expect(fetch(`http://localhost:${port}/healthz`)).rejects.toThrow('fetch failed');
    expect(await presentedFingerprint(port)).toBe(fingerprint(one));

    await put(two);
    process.kill(server.pid, 'SIGHUP');
    await expect.poll(() => presentedFingerprint(port), { timeout: 20_000 }).toBe(fingerprint(two));
    // the status is 401, because the request has no client authentication
    expect(await pendingRequest.finish()).toBe(401);
    await expectRecommendedTlsSettings(port);

    await put({ cert: two.cert, key: three.key });
    process.kill(server.pid, 'SIGHUP');
    await expect.poll(() => server.output(), { timeout: 20_000 }).toContain('the new certificate files are invalid');
    expect(await presentedFingerprint(port)).toBe(fingerprint(two));

    // the server detects changed files even without SIGHUP
    await put(three);
    await expect.poll(() => presentedFingerprint(port), { timeout: 60_000 }).toBe(fingerprint(three));
    await expect.poll(() => server.output().split('the certificate expires soon').length, { timeout: 20_000 }).toBe(2);
    expect(await server.stop()).toBe(0);
  });

  test('prevents a start with a key that does not match the certificate, and is required in production on non-loopback addresses', async () => {
    await using data = await createDataDirectory();
    const [certFile, keyFile] = [join(data.path, 'tls.crt'), join(data.path, 'tls.key')];
    await writeFile(certFile, createSelfSignedCertificate().cert);
    await writeFile(keyFile, createSelfSignedCertificate().key);
    const refused = await runServerUntilExit({ MANDATE_DATA_DIR: data.path, MANDATE_TLS_CERT: certFile, MANDATE_TLS_KEY: keyFile });
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining('MANDATE_TLS_KEY must be the private key of the certificate'),
    ]);
    const production = { NODE_ENV: 'production', MANDATE_SECRET: 'x'.repeat(43), MANDATE_ISSUER: 'https://shop.example' };
    const plain = await runServerUntilExit({ MANDATE_DATA_DIR: data.path, HOST: '0.0.0.0', ...production });
    expect([plain.code, plain.output]).toEqual([1, expect.stringContaining('MANDATE_TRUST_PROXY')]);
  });
});
