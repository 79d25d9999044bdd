import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import type { buildConnector, Client } from 'undici';
import { isLoopbackUrl, isPublicIpAddress, findUrlRejectionReason } from './check-public-url.ts';

export type HostAddress = { readonly address: string; readonly family: number };

/** Specifies how host names are resolved and which addresses the server may connect to. */
export type NetworkPolicy = {
  readonly resolve: (host: string) => Promise<readonly HostAddress[]>;
  readonly isAllowed: (address: string) => boolean;
  /** Whether connections to loopback addresses over HTTP are allowed. */
  readonly development: boolean;
  /** Certificate authorities (PEM) to trust instead of the built-in authorities. Set only by tests, which serve HTTPS from loopback. */
  readonly trustedAuthorities?: string;
};

export const createPublicAddressesOnlyNetworkPolicy = (development: boolean): NetworkPolicy => ({
  resolve: (host) => lookup(host, { all: true }),
  isAllowed: isPublicIpAddress,
  development,
});

const connectTimeoutMs = 5_000;

export class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
}

/** Calls `send` while the request is guaranteed to be permitted. Throws an error if the request is not permitted. */
export type SendGate = (send: () => Promise<void>) => Promise<void>;

export type ProtectedRequest = {
  readonly url: string;
  readonly network: NetworkPolicy;
  /** Total timeout in milliseconds, including DNS resolution, connection, request and response. */
  readonly totalMs: number;
  readonly signal?: AbortSignal;
  /** Called when the connection is established, immediately before the request is written. */
  readonly gate?: SendGate;
};

/** An HTTP client for a single connection, with the path and the abort signal for its request. */
export type ProtectedConnection = { readonly client: Client; readonly path: string; readonly signal: AbortSignal };

/**
 * Opens a separate connection for one request to a URL that a third party specified. To protect against SSRF, the function resolves the
 * host name, requires that every address is public, and connects to exactly those addresses. Redirects are not followed.
 * @throws {AddressNotAllowedError} before any connection is opened
 */
export async function withSsrfProtectedConnection<Result>(
  { url: urlText, network, totalMs, signal, gate = (send) => send() }: ProtectedRequest,
  use: (connection: ProtectedConnection) => Promise<Result>,
): Promise<Result> {
  if (findUrlRejectionReason(urlText, network.development) !== undefined) throw new AddressNotAllowedError('the URL is not allowed');
  const url = new URL(urlText);
  const timeout = AbortSignal.timeout(totalMs);
  const aborting = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const addresses = await allowedAddresses(url, network, aborting);
  // imported on demand, because loading this library would slow down every start
  const undici = await import('undici');
  const client = new undici.Client(url.origin, {
    connect: pinnedConnector(undici.buildConnector, addresses, network, gate),
    pipelining: 0, // connections are never reused
    headersTimeout: totalMs,
    bodyTimeout: totalMs,
    allowH2: false,
  });
  try {
    return await use({ client, path: url.pathname + url.search, signal: aborting });
  } finally {
    await client.destroy();
  }
}

/** Resolves the host. Fails if the host cannot be resolved or if any of its addresses is not allowed. */
async function allowedAddresses(
  url: URL,
  { resolve, isAllowed, development }: NetworkPolicy,
  aborting: AbortSignal,
): Promise<readonly HostAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (development && isLoopbackUrl(url)) return lookup(host, { all: true });
  // an IP address in the URL skips DNS resolution, and would otherwise skip the address check
  if (isIP(host) !== 0) throw new AddressNotAllowedError(host);
  const resolved = await Promise.race([resolve(host), rejectOnAbort(aborting)]);
  if (resolved.length === 0 || resolved.some(({ address }) => !isAllowed(address))) throw new AddressNotAllowedError(host);
  return resolved;
}

async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

/** Creates a connector for the checked addresses, so that a later DNS change has no effect. */
function pinnedConnector(
  createConnector: typeof buildConnector,
  addresses: readonly HostAddress[],
  { trustedAuthorities }: NetworkPolicy,
  gate: SendGate,
): buildConnector.connector {
  const connector = createConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    ...(trustedAuthorities !== undefined && { ca: trustedAuthorities }),
    lookup: (host, options, callback) => {
      const [first] = addresses;
      if (!first) return callback(new AddressNotAllowedError(host), '');
      return options.all ? callback(null, [...addresses]) : callback(null, first.address, first.family);
    },
  });
  const connect = (options: buildConnector.Options): Promise<Socket> =>
    new Promise((resolve, reject) => connector(options, (error, socket) => (error ? reject(error) : resolve(socket))));
  const connectThroughGate = async (options: buildConnector.Options): Promise<Socket> => {
    const socket = await connect(options);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const release = (): Promise<void> => {
      resolve(socket);
      return waitUntilWritten(socket);
    };
    gate(release).catch((error: unknown) => {
      socket.destroy();
      reject(error);
    });
    return promise;
  };
  const connectWithCallback = callbackify(connectThroughGate);
  return (options, callback) =>
    connectWithCallback(options, (error: Error | null, socket) => (error ? callback(error, null) : callback(null, socket)));
}

const maxTurns = 1_000;

/** Waits until the request's first bytes have been written. */
async function waitUntilWritten(socket: Socket): Promise<void> {
  for (let turn = 0; turn < maxTurns && socket.bytesWritten === 0 && !socket.destroyed; turn += 1)
    await new Promise((resolve) => setImmediate(resolve));
}
