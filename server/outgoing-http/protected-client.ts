import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector, Client } from 'undici';
import { isLoopbackUrl, isPublicAddress, urlFault } from './public-url.ts';

export type Address = { readonly address: string; readonly family: number };

/** How host names are resolved, and which addresses the server may connect to. */
export type Network = {
  readonly resolve: (host: string) => Promise<readonly Address[]>;
  readonly isAllowed: (address: string) => boolean;
  /** Whether connections to this machine itself are accepted, over http. */
  readonly development: boolean;
  /** Certificate authorities (PEM) to trust instead of the built-in ones. `internet` never sets it: tests serve https from loopback. */
  readonly trustedAuthorities?: string;
};

export const internet = (development: boolean): Network => ({
  resolve: (host) => lookup(host, { all: true }),
  isAllowed: isPublicAddress,
  development,
});

const connectMs = 5_000;

export class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
}

/** Calls `send` while it is certain that the request may go out; throws when it may not. */
export type Gate = (send: () => Promise<void>) => Promise<void>;

export type ProtectedRequest = {
  readonly url: string;
  readonly network: Network;
  /** Milliseconds for everything together: resolving the name, connecting, sending, and reading the response. */
  readonly totalMs: number;
  readonly signal?: AbortSignal;
  /** Called when the connection is established, right before the request is written. */
  readonly gate?: Gate;
};

/** What a request is sent with: the client of one connection, and the path and the signal to pass to it. */
export type ProtectedConnection = { readonly client: Client; readonly path: string; readonly signal: AbortSignal };

/**
 * Opens a connection of its own for one request to a URL that a third party named (protection against SSRF): resolves the name,
 * connects only when every address is public, and connects to exactly the addresses that were checked. The client follows no redirect.
 * @throws {AddressNotAllowedError} before any connection is opened
 */
export async function withProtectedConnection<Result>(
  { url: text, network, totalMs, signal, gate = (send) => send() }: ProtectedRequest,
  use: (connection: ProtectedConnection) => Promise<Result>,
): Promise<Result> {
  if (urlFault(text, network.development) !== undefined) throw new AddressNotAllowedError('the URL is not allowed');
  const url = new URL(text);
  const timeout = AbortSignal.timeout(totalMs);
  const over = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const addresses = await allowedAddresses(url, network, over);
  const client = new Client(url.origin, {
    connect: guarded(addresses, network, gate),
    pipelining: 0, // no connection is used twice
    headersTimeout: totalMs,
    bodyTimeout: totalMs,
    allowH2: false,
  });
  try {
    return await use({ client, path: url.pathname + url.search, signal: over });
  } finally {
    await client.destroy();
  }
}

/** Fails closed: an address that cannot be found out, or one of several that is not allowed, and nothing is connected to. */
async function allowedAddresses(url: URL, { resolve, isAllowed, development }: Network, over: AbortSignal): Promise<readonly Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (development && isLoopbackUrl(url)) return lookup(host, { all: true });
  // for an address in numbers nothing would be looked up
  if (isIP(host) !== 0) throw new AddressNotAllowedError(host);
  const all = await Promise.race([resolve(host), aborted(over)]);
  if (all.length === 0 || all.some(({ address }) => !isAllowed(address))) throw new AddressNotAllowedError(host);
  return all;
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

/** Connects to what was looked at: a name that leads elsewhere the next moment changes nothing. */
function guarded(addresses: readonly Address[], { trustedAuthorities }: Network, gate: Gate): buildConnector.connector {
  const connector = buildConnector({
    timeout: connectMs,
    allowH2: false,
    ...(trustedAuthorities !== undefined && { ca: trustedAuthorities }),
    lookup: (host, options, done) => {
      const [first] = addresses;
      if (!first) return done(new AddressNotAllowedError(host), '');
      return options.all ? done(null, [...addresses]) : done(null, first.address, first.family);
    },
  });
  const connect = (options: buildConnector.Options): Promise<Socket> =>
    new Promise((resolve, reject) => connector(options, (error, socket) => (error ? reject(error) : resolve(socket))));
  const throughGate = async (options: buildConnector.Options): Promise<Socket> => {
    const socket = await connect(options);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const handOver = (): Promise<void> => {
      resolve(socket);
      return written(socket);
    };
    gate(handOver).catch((error: unknown) => {
      socket.destroy();
      reject(error);
    });
    return promise;
  };
  const callback = callbackify(throughGate);
  return (options, done) => callback(options, (error: Error | null, socket) => (error ? done(error, null) : done(null, socket)));
}

const turnsMax = 1_000;

/** Until the request is on its way. */
async function written(socket: Socket): Promise<void> {
  for (let turn = 0; turn < turnsMax && socket.bytesWritten === 0 && !socket.destroyed; turn += 1)
    await new Promise((passed) => setImmediate(passed));
}
