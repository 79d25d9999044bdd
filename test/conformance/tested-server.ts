import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { ApplicationCreate } from '@mandate/contract';
import { z } from 'zod';
import type { CertificateWithKey } from '../support/network/create-certificate.ts';
import { createSelfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { createDataDirectory, obtainAdministrationToken, readFirstRunFile, startServerProcess } from '../support/server/server-process.ts';
import type { BrowserUser } from './complete-browser-step.ts';
import type { RegisteredClient } from './plan-configuration.ts';

export type TestedServer = AsyncDisposable & {
  readonly issuer: string;
  /** The user who signs in. */
  readonly user: BrowserUser;
  /** A user who has not granted any permissions, so that the server asks for consent. */
  readonly unconsentingUser: BrowserUser;
  registerClients(registrations: readonly ApplicationCreate[]): Promise<RegisteredClient[]>;
};

const registeredClient = z.object({ client_id: z.string(), client_secret: z.string().nullable() });

/**
 * Starts a server over TLS, with a new certificate that this process trusts, and with the demonstration accounts.
 * @param authority authority whose client certificates the server accepts
 */
export async function startTestedServer({ cert: authority }: Pick<CertificateWithKey, 'cert'>): Promise<TestedServer> {
  const data = await createDataDirectory();
  const { cert, key } = createSelfSignedCertificate();
  const write = async (name: string, content: string): Promise<string> => {
    await writeFile(join(data.path, name), content);
    return join(data.path, name);
  };
  setDefaultCACertificates([...getCACertificates('default'), cert]);
  const server = await startServerProcess({
    MANDATE_DATA_DIR: data.path,
    MANDATE_TLS_CERT: await write('tls.crt', cert),
    MANDATE_TLS_KEY: await write('tls.key', key),
    MANDATE_CLIENT_CERTIFICATES: 'tls',
    MANDATE_CLIENT_CA: await write('client-ca.crt', authority),
    // the server sends logout tokens to the suite, so it must trust the suite's certificate like this process
    NODE_EXTRA_CA_CERTS: await write('suite.crt', getCACertificates('extra').join('\n')),
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
  if (response.status !== 201) throw new Error(`the application was not registered: ${response.status} ${await response.text()}`);
  return registeredClient.parse(await response.json());
}
