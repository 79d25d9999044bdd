/** Tests the proxy settings in docs/operations.md with each proxy that is installed (`apt-get install haproxy caddy nginx`). */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../server/app/app.ts';
import { deriveKeys } from '../../server/crypto/derived-keys-and-server-secret.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { createLogger } from '../../server/logging/logger.ts';
import {
  createApplicationWithCertificate,
  createAuthority,
  createClientCertificate,
  toJwkWithCertificate,
} from '../support/application-keys/client-certificates.ts';
import { repositoryRoot } from '../support/markdown.ts';
import { createCertificate, type CertificateWithKey } from '../support/network/create-certificate.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { closeServer, listenOnLoopback } from '../support/network/loopback-server.ts';
import { createSelfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { startHttpProgram } from '../support/server/start-http-program.ts';
import { createHttpsFetch } from '../support/oauth/https-server.ts';
import { tokenResponseSchema } from '../support/oauth/oauth-flow.ts';
import { testServerSecret } from '../support/server/test-server-secret.ts';
import { createMigratedDatabase } from '../support/services/database.ts';

type ProxySettings = {
  /** Settings in docs/operations.md. */
  readonly documented: readonly string[];
  /** Folder with `tls.crt`, `tls.key`, `tls.pem` (certificate and key in one file) and `authority.crt`. */
  readonly folder: string;
  readonly port: number;
  /** Port of the server. */
  readonly upstreamPort: number;
};

type Proxy = {
  readonly command: string;
  /** Name, in lower case, of the header in which the proxy forwards the certificate. */
  readonly header: string;
  readonly createConfiguration: (settings: ProxySettings) => string;
  readonly createArguments: (configurationFile: string) => readonly string[];
};

const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    command: '/usr/sbin/nginx',
    header: 'x-ssl-client-cert',
    createConfiguration: ({ documented, folder, port, upstreamPort }) => `
pid ${folder}/nginx.pid;
error_log stderr;
daemon off;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/tls.crt;
    ssl_certificate_key ${folder}/tls.key;
    ssl_session_cache shared:tls:1m;
    proxy_set_header Host $http_host;
    ${documented.join('\n    ')}
    location / {
      proxy_pass http://127.0.0.1:${upstreamPort};
    }
  }
}
`,
    createArguments: (file) => ['-c', file],
  },
  HAProxy: {
    command: '/usr/sbin/haproxy',
    header: 'client-cert',
    createConfiguration: ({ documented: [bindOptions = '', ...rules], folder, port, upstreamPort }) => `
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
frontend shop
  bind 127.0.0.1:${port} ssl crt ${folder}/tls.pem ${bindOptions.replace('FILE', `${folder}/authority.crt`)}
  ${rules.join('\n  ')}
  default_backend server
backend server
  server server 127.0.0.1:${upstreamPort}
`,
    createArguments: (file) => ['-db', '-f', file],
  },
  Caddy: {
    command: '/usr/bin/caddy',
    header: 'client-cert',
    createConfiguration: ({ documented: [clientAuthentication = '', headerRule = ''], folder, port, upstreamPort }) => `
{
  admin off
  storage file_system ${folder}
}
https://localhost:${port} {
  bind 127.0.0.1
  tls ${folder}/tls.crt ${folder}/tls.key {
    ${clientAuthentication.replace(/^(\w+) \{ (.*) \}$/, '$1 {\n$2\n}')}
  }
  reverse_proxy 127.0.0.1:${upstreamPort} {
    ${headerRule}
  }
}
`,
    createArguments: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
};

/**
 * Returns the settings in the proxy's table row. Skips code spans that consist of one word, because these are names of blocks and variables.
 */
async function readDocumentedSettings(proxy: string): Promise<string[]> {
  const source = await readFile(join(repositoryRoot, 'docs/operations.md'), 'utf8');
  const [, cell = ''] = new RegExp(`^\\| ${proxy} \\| (.*) \\|$`, 'm').exec(source) ?? [];
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, setting = '']) => setting).filter((setting) => setting.includes(' '));
}

const tls = createSelfSignedCertificate();
const authority = createAuthority();
const issued = createClientCertificate(authority);
const selfSigned = createCertificate({ subject: [['CN', 'self-signed']] });

describe.each(Object.entries(proxies))('%s with the documented settings', (name, { command, header, ...proxy }) => {
  const isInstalled = existsSync(command);
  let [folder, issuer, issuedClient, selfSignedClient] = ['', '', '', ''];
  let db: Database | undefined;
  let program: AsyncDisposable | undefined;
  let listener: RequestListener = (_req, res) => void res.writeHead(503).end();
  const server = createServer((req, res) => listener(req, res));

  beforeAll(async () => {
    if (!isInstalled) return;
    const [port, upstreamPort] = [await findFreePort(), await listenOnLoopback(server)];
    issuer = `https://localhost:${port}`;
    db = await createMigratedDatabase();
    const clientCertificates = { source: { kind: 'header', name: header }, authorities: [new X509Certificate(authority.cert)] } as const;
    const keys = deriveKeys(testServerSecret);
    listener = await createApp({ db, issuer, keys, log: createLogger(false), trustProxy: 'loopback', clientCertificates });
    issuedClient = await createApplicationWithCertificate(db, {
      tokenEndpointAuthMethod: 'tls_client_auth',
      tlsClientAuthSubject: { type: 'san_dns', value: 'client.example' },
      tlsClientCertificateBoundAccessTokens: true,
    });
    selfSignedClient = await createApplicationWithCertificate(db, {
      tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
      jwks: { keys: [toJwkWithCertificate(selfSigned)] },
      tlsClientCertificateBoundAccessTokens: true,
    });
    folder = await mkdtemp(join(tmpdir(), 'mandate-proxy-'));
    await chmod(folder, 0o755); // a proxy can switch to a different user
    const files = { 'tls.crt': tls.cert, 'tls.key': tls.key, 'tls.pem': tls.cert + tls.key, 'authority.crt': authority.cert };
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
    const documented = await readDocumentedSettings(name);
    await writeFile(join(folder, 'proxy.conf'), proxy.createConfiguration({ documented, folder, port, upstreamPort }));
    const env = { HOME: folder };
    program = await startHttpProgram({ command, argv: proxy.createArguments(join(folder, 'proxy.conf')), env, port });
  });
  afterAll(async () => {
    await program?.[Symbol.asyncDispose]();
    await closeServer(server);
    await db?.close();
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  const send = (client: CertificateWithKey | undefined, path: string, init: RequestInit): Promise<Response> =>
    createHttpsFetch({ ca: tls.cert, cert: client?.cert, key: client?.key })(new URL(path, issuer), init);
  const requestToken = (clientId: string, client: CertificateWithKey | undefined, headers = {}): Promise<Response> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId });
    return send(client, '/oauth/token', { method: 'POST', body, headers });
  };
  const callApi = async (token: string, client: CertificateWithKey | undefined): Promise<number> =>
    (await send(client, '/api/v1/users', { headers: { authorization: `Bearer ${token}` } })).status;

  test.for([
    ['that an authority issued', () => [issuedClient, issued] as const],
    ['that is self-signed', () => [selfSignedClient, selfSigned] as const],
  ] as const)('reports a certificate %s, to which the tokens are bound', async ([, find], { skip }) => {
    skip(!isInstalled, `${command} is not installed`);
    const [clientId, certificate] = find();
    const { access_token: token } = tokenResponseSchema.parse(await (await requestToken(clientId, certificate)).json());
    expect(await callApi(token, certificate)).toBe(200);
    expect(await callApi(token, createClientCertificate(authority))).toBe(401);
    expect(await callApi(token, undefined)).toBe(401);
    expect(await sendOverResumedSession(new URL('/api/v1/users', issuer), token, certificate)).toEqual([
      { status: 200, isSessionReused: false },
      { status: 200, isSessionReused: true },
    ]);
  });

  test('removes the header from requests of a client without a certificate', async ({ skip }) => {
    skip(!isInstalled, `${command} is not installed`);
    const formats = [`:${new X509Certificate(issued.cert).raw.toString('base64')}:`, encodeURIComponent(issued.cert)];
    for (const value of formats) expect((await requestToken(issuedClient, undefined, { [header]: value })).status).toBe(401);
  });
});

/** Sends two requests. The second connection resumes the TLS session of the first one. */
async function sendOverResumedSession(url: URL, token: string, { cert, key }: CertificateWithKey): Promise<object[]> {
  const agent = new Agent({ ca: tls.cert, cert, key });
  const results: object[] = [];
  while (results.length < 2) {
    const outgoing = request(url, { agent, headers: { authorization: `Bearer ${token}` } }).end();
    const [response]: IncomingMessage[] = await once(outgoing, 'response');
    if (!response) throw new Error('no response');
    const { socket } = response;
    results.push({ status: response.statusCode, isSessionReused: socket instanceof TLSSocket && socket.isSessionReused() });
    response.resume();
    await once(response, 'end');
  }
  return results;
}
