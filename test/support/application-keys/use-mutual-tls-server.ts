import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { SendRequest } from '../browser/browser.ts';
import type { CertificateWithKey } from '../network/create-certificate.ts';
import { createSelfSignedCertificate } from '../network/self-signed-certificate.ts';
import { useServer, type RunningServer } from '../server/use-server.ts';
import { createHttpsFetch } from '../oauth/https-server.ts';

/** The certificate that a client presents; undefined for a client without a certificate. */
export type ClientCertificate = CertificateWithKey | undefined;

export type MutualTlsServer = {
  readonly server: RunningServer;
  /** Creates a function like `fetch` that presents this certificate. */
  readonly fetchWith: (client: ClientCertificate) => SendRequest;
  /** Sends a form to an endpoint under `/oauth`. */
  readonly post: (path: string, form: Record<string, string>, client: ClientCertificate) => Promise<Response>;
  /** Requests tokens with the client credentials grant. */
  readonly requestTokens: (clientId: string, client: ClientCertificate, form?: Record<string, string>) => Promise<Response>;
  /** Sends a request with a bearer token, and returns the status. */
  readonly callApi: (token: string, client: ClientCertificate, path?: string) => Promise<number>;
};

/** Starts a TLS server that requests client certificates and trusts the certificates of one authority. */
export function useMutualTlsServer(authority: Pick<CertificateWithKey, 'cert'>): MutualTlsServer {
  const tls = createSelfSignedCertificate();
  const server = useServer({
    http: { tls: { cert: Buffer.from(tls.cert), key: Buffer.from(tls.key) }, requestClientCertificates: true },
    clientCertificates: { source: { kind: 'tls' }, authorities: [new X509Certificate(authority.cert)] },
  });
  const fetchWith = (client: ClientCertificate): SendRequest => createHttpsFetch({ ca: tls.cert, cert: client?.cert, key: client?.key });
  const post: MutualTlsServer['post'] = (path, form, client) =>
    fetchWith(client)(new URL(`/oauth/${path}`, server.origin), { method: 'POST', body: new URLSearchParams(form) });
  return {
    server,
    fetchWith,
    post,
    requestTokens: (clientId, client, form) => post('token', { grant_type: 'client_credentials', client_id: clientId, ...form }, client),
    callApi: async (token, client, path = '/api/v1/users') =>
      (await fetchWith(client)(new URL(path, server.origin), { headers: { authorization: `Bearer ${token}` } })).status,
  };
}

const errorSchema = z.object({ error: z.string(), error_description: z.string() });

/** Returns the status, the error code and the description of an OAuth error response. */
export async function readErrorWithDescription(response: Response): Promise<readonly [number, string, string]> {
  const { error, error_description: description } = errorSchema.parse(await response.json());
  return [response.status, error, description];
}
