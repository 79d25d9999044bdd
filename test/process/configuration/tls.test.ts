import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { certificate, type Certificate } from '../../support/network/certificate.ts';
import { endServerProcesses, runServer, startServer, temporaryDataDirectory } from '../../support/server/server-process.ts';

afterEach(endServerProcesses);

const fingerprint = ({ cert }: Pick<Certificate, 'cert'>): string => new X509Certificate(cert).fingerprint256;

/** What a new connection is shown. */
async function shown(port: number): Promise<string> {
  const socket = connect({ port, host: 'localhost', servername: 'localhost', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** A request whose body is on its way until `finish` is called, which gives the status of the answer. */
async function beginRequest(port: number, ca: string): Promise<{ readonly finish: () => Promise<unknown> }> {
  const body = 'grant_type=client_credentials';
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
  const asked = request({ port, host: 'localhost', path: '/oauth/token', method: 'POST', headers, ca, agent: false });
  asked.write(body.slice(0, 10));
  await once(asked, 'socket');
  return {
    async finish() {
      const answered = once(asked, 'response');
      asked.end(body.slice(10));
      const [answer] = await answered;
      answer.resume();
      return answer.statusCode;
    },
  };
}

describe('TLS from its own files', { timeout: 300_000 }, () => {
  test('is spoken, and follows the files without an open connection being cut; what does not fit together changes nothing', async () => {
    await using data = await temporaryDataDirectory();
    const [certFile, keyFile] = [join(data.path, 'tls.crt'), join(data.path, 'tls.key')];
    const put = async ({ cert, key }: Certificate): Promise<void> => {
      await writeFile(certFile, cert);
      await writeFile(keyFile, key);
    };
    const [one, two, three] = [certificate(), certificate(), certificate(3)];
    await put(one);
    const server = await startServer({ MANDATE_DATA_DIR: data.path, MANDATE_TLS_CERT: certFile, MANDATE_TLS_KEY: keyFile });
    const port = Number(new URL(server.url).port);
    expect(server.output()).toContain(`https://localhost:${port}/api/v1`);
    // verified against the first certificate
    const begun = await beginRequest(port, one.cert);
    await expect(fetch(`http://localhost:${port}/healthz`)).rejects.toThrow('fetch failed');
    expect(await shown(port)).toBe(fingerprint(one));

    await put(two);
    process.kill(server.pid, 'SIGHUP');
    await expect.poll(() => shown(port), { timeout: 20_000 }).toBe(fingerprint(two));
    // without a client's name and secret
    expect(await begun.finish()).toBe(401);

    await put({ cert: two.cert, key: three.key });
    process.kill(server.pid, 'SIGHUP');
    await expect.poll(() => server.output(), { timeout: 20_000 }).toContain('the new certificate files are invalid');
    expect(await shown(port)).toBe(fingerprint(two));

    // found without being told
    await put(three);
    await expect.poll(() => shown(port), { timeout: 60_000 }).toBe(fingerprint(three));
    await expect.poll(() => server.output().split('the certificate expires soon').length, { timeout: 20_000 }).toBe(2);
    expect(await server.stop()).toBe(0);
  });

  test('is refused at the start with files that do not fit together, and http on other addresses in production without it', async () => {
    await using data = await temporaryDataDirectory();
    const [certFile, keyFile] = [join(data.path, 'tls.crt'), join(data.path, 'tls.key')];
    await writeFile(certFile, certificate().cert);
    await writeFile(keyFile, certificate().key);
    const refused = await runServer({ MANDATE_DATA_DIR: data.path, MANDATE_TLS_CERT: certFile, MANDATE_TLS_KEY: keyFile });
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('MANDATE_TLS_KEY must be the key of the certificate')]);
    const production = { NODE_ENV: 'production', MANDATE_SECRET: 'x'.repeat(43), MANDATE_ISSUER: 'https://shop.example' };
    const plain = await runServer({ MANDATE_DATA_DIR: data.path, HOST: '0.0.0.0', ...production });
    expect([plain.code, plain.output]).toEqual([1, expect.stringContaining('MANDATE_TRUST_PROXY')]);
  });
});
