import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { ApplicationCreate } from '@mandate/contract';
import { z } from 'zod';
import { createSelfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { createDataDirectory, obtainAdministrationToken, readFirstRunFile, startServerProcess } from '../support/server/server-process.ts';
import type { BrowserUser } from './complete-browser-step.ts';
import type { RegisteredClient } from './conformance-plans.ts';

export type TestedServer = AsyncDisposable & {
  readonly issuer: string;
  /** The user who signs in. */
  readonly user: BrowserUser;
  /** A user who has not granted any permissions, so that the server asks for consent. */
  readonly unconsentingUser: BrowserUser;
  registerClients(registrations: readonly ApplicationCreate[]): Promise<RegisteredClient[]>;
};

const registeredClient = z.object({ client_id: z.string(), client_secret: z.string().nullable() });

/** Starts a server over TLS, with a new certificate that this process trusts, and with the demonstration accounts. */
export async function startTestedServer(): Promise<TestedServer> {
  const data = await createDataDirectory();
  const { cert, key } = createSelfSignedCertificate();
  const [certFile, keyFile, suiteCertFile] = [join(data.path, 'tls.crt'), join(data.path, 'tls.key'), join(data.path, 'suite.crt')];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  // the server sends logout tokens to the suite, so it must trust the suite's certificate like this process
  await writeFile(suiteCertFile, getCACertificates('extra').join('\n'));
  setDefaultCACertificates([...getCACertificates('default'), cert]);
  const server = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    MANDATE_TLS_CERT: certFile,
    MANDATE_TLS_KEY: keyFile,
    NODE_EXTRA_CA_CERTS: suiteCertFile,
    // all requests come from one address
    MANDATE_RATE_LIMIT_IP: '100000',
  });
  const issuer = server.url.replace('http:', 'https:');
  const { customer, administrator } = await readFirstRunFile(data.path);
  return {
    issuer,
    user: customer,
    unconsentingUser: administrator,
    async registerClients(registrations) {
      const token = await obtainAdministrationToken(issuer, data.path);
      const clients: RegisteredClient[] = [];
      for (const registration of registrations) clients.push(await registerClient(issuer, token, registration));
      return clients;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await data[Symbol.asyncDispose]();
    },
  };
}

async function registerClient(issuer: string, token: string, registration: ApplicationCreate): Promise<RegisteredClient> {
  const response = await fetch(`${issuer}/api/v1/applications`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(registration),
    signal: AbortSignal.timeout(30_000), // longer than the slowest server response
  });
  if (response.status !== 201) throw new Error(`no application: ${response.status} ${await response.text()}`);
  return registeredClient.parse(await response.json());
}
