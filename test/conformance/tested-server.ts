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
  /** A user who has not granted any permissions, so that the server shows the consent page. */
  readonly unconsentingUser: BrowserUser;
  registerClients(registrations: readonly ApplicationCreate[]): Promise<RegisteredClient[]>;
  /** Returns an initial access token (RFC 7591 section 3) for any number of applications. */
  createRegistrationToken(): Promise<string>;
  /** Allows a self-registered application to omit PKCE and the nonce. */
  allowNeitherPkceNorNonce(clientId: string): Promise<void>;
  rotateSigningKeys(): Promise<void>;
};

const registrationToken = z.object({ initial_access_token: z.string() });
const applicationList = z.object({ data: z.array(z.object({ id: z.number(), client_id: z.string() })) });
const registeredClient = z.object({ client_id: z.string(), client_secret: z.string().nullable() });

/**
 * Starts a server with TLS, with a new certificate that this process trusts, and with the demonstration accounts.
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
    // the server sends logout tokens to the suite, so it must trust the suite's certificate, as this process does
    NODE_EXTRA_CA_CERTS: await write('suite.crt', getCACertificates('extra').join('\n')),
    // all requests come from the same IP address
    MANDATE_RATE_LIMIT_IP: '100000',
  });
  const issuer = server.url.replace('http:', 'https:');
  const { customer, administrator } = await readFirstRunFile(data.path);
  const callApi = async (method: string, path: string, body?: object): Promise<unknown> =>
    callAdministrationApi(issuer, await obtainAdministrationToken(issuer, data.path), { method, path, body });
  return {
    issuer,
    user: customer,
    unconsentingUser: administrator,
    async registerClients(registrations) {
      const clients: RegisteredClient[] = [];
      for (const registration of registrations) clients.push(registeredClient.parse(await callApi('POST', 'applications', registration)));
      return clients;
    },
    createRegistrationToken: async () => registrationToken.parse(await callApi('POST', 'registration-tokens', {})).initial_access_token,
    async allowNeitherPkceNorNonce(clientId) {
      const { data: applications } = applicationList.parse(await callApi('GET', 'applications?limit=100'));
      const application = applications.find(({ client_id: id }) => id === clientId);
      if (!application) throw new Error(`there is no application ${clientId}`);
      await callApi('PATCH', `applications/${application.id}`, { allow_neither_pkce_nor_nonce: true });
    },
    rotateSigningKeys: async () => void (await callApi('POST', 'signing-key-rotations', {})),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await data[Symbol.asyncDispose]();
    },
  };
}

type ApiRequest = { readonly method: string; readonly path: string; readonly body?: object | undefined };

async function callAdministrationApi(issuer: string, token: string, { method, path, body }: ApiRequest): Promise<unknown> {
  const response = await fetch(`${issuer}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000), // longer than the slowest server response
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
