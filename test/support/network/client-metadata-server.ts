import { createServer } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { NetworkPolicy } from '../../../server/outgoing-http/ssrf-protected-connection.ts';
import { createSelfSignedCertificate } from './self-signed-certificate.ts';
import { closeServer, listenOnLoopback } from './loopback-server.ts';

export type ClientMetadataServer = {
  /** Network policy that makes the server under test resolve the host to loopback and trust the certificate. */
  readonly networkPolicy: NetworkPolicy;
  /** Returns the URL for a path. The URL of a metadata document is a client ID. */
  readonly url: (path: string) => string;
  /**
   * Serves a client ID metadata document at this path: the default metadata, overridden by the given fields. Returns the document's URL.
   */
  readonly publishMetadata: (path: string, metadata?: object, headers?: Record<string, string>) => string;
  /** Serves the handler's response at this path. Returns the URL. */
  readonly serve: (path: string, handler: (res: ServerResponse) => void) => string;
  /** All requested paths, in order. */
  readonly requestedPaths: string[];
  close(): Promise<void>;
};

export const clientMetadataHost = 'assistant.example';

/** Starts an HTTPS server on loopback that publishes client ID metadata documents. */
export async function startClientMetadataServer(): Promise<ClientMetadataServer> {
  const { cert, key } = createSelfSignedCertificate(30, [clientMetadataHost]);
  const handlers = new Map<string, (res: ServerResponse) => void>();
  const requested: string[] = [];
  const server = createServer({ cert, key }, (req, res) => {
    const path = req.url ?? '';
    requested.push(path);
    const handler = handlers.get(path);
    if (handler) handler(res);
    else res.writeHead(404).end();
  });
  const port = await listenOnLoopback(server);
  const url = (path: string): string => `https://${clientMetadataHost}:${port}${path}`;
  const answer = (path: string, handler: (res: ServerResponse) => void): string => {
    handlers.set(path, handler);
    return url(path);
  };
  return {
    networkPolicy: {
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      isAllowed: () => true,
      development: false,
      trustedAuthorities: cert,
    },
    url,
    serve: answer,
    requestedPaths: requested,
    publishMetadata: (path, metadata = {}, headers = {}) =>
      answer(path, (res) => {
        const defaults = { client_id: url(path), client_name: 'Test assistant', redirect_uris: ['http://127.0.0.1/callback'] };
        const grants = { grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none' };
        res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ ...defaults, ...grants, ...metadata }));
      }),
    async close() {
      await closeServer(server);
    },
  };
}
