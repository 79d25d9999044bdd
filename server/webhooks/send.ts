import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector, Client } from 'undici';
import { isLoopbackUrl, isPublicAddress, urlFault } from './endpoint-url.ts';

export type Address = { readonly address: string; readonly family: number };

/** How names become addresses, and which of them may be spoken to. */
export type Network = {
  readonly resolve: (host: string) => Promise<readonly Address[]>;
  readonly isAllowed: (address: string) => boolean;
  /** Whether this machine itself may be spoken to, over http. */
  readonly development: boolean;
};

export const internet = (development: boolean): Network => ({
  resolve: (host) => lookup(host, { all: true }),
  isAllowed: isPublicAddress,
  development,
});

/** Seconds for everything together: finding the address, connecting, sending, and waiting for the answer. */
const totalMs = 15_000;
const connectMs = 5_000;
/** Of an answer no more is read than this; nothing of it is kept or shown. */
const answerMax = 64 * 1024;

export class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
}
/** Whoever was to be told may not be told any more. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';
}
/** Whether they may cannot be said this moment: somebody is changing it. */
export class UndecidedError extends Error {
  override readonly name = 'UndecidedError';
}

export type Outgoing = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };
export type Outcome = { readonly statusCode: number; readonly retryAfter: string | undefined };
/** Calls `send` while it is certain that the request may go out; throws when it may not. */
export type Gate = (send: () => Promise<void>) => Promise<void>;

/**
 * One attempt, over a connection of its own: the name is resolved anew, and connected to is what was looked at. A redirect is an
 * answer like any other and not followed.
 * @param gate asked once the connection stands, right before the request is written
 */
export async function send(outgoing: Outgoing, network: Network, gate: Gate, signal: AbortSignal): Promise<Outcome> {
  const url = new URL(outgoing.url);
  if (urlFault(outgoing.url, network.development) !== undefined) throw new AddressNotAllowedError(url.hostname);
  const over = AbortSignal.any([signal, AbortSignal.timeout(totalMs)]);
  const addresses = await allowedAddresses(url, network, over);
  const client = new Client(url.origin, {
    connect: guarded(addresses, gate),
    pipelining: 0, // no connection is used twice
    headersTimeout: totalMs,
    bodyTimeout: totalMs,
    allowH2: false,
  });
  try {
    const path = url.pathname + url.search;
    const response = await client.request({ method: 'POST', path, headers: outgoing.headers, body: outgoing.body, signal: over });
    await response.body.dump({ limit: answerMax }); // one that breaks off or never ends has said before whether it went well
    const { 'retry-after': retryAfter } = response.headers;
    return { statusCode: response.statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
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
function guarded(addresses: readonly Address[], gate: Gate): buildConnector.connector {
  const connector = buildConnector({
    timeout: connectMs,
    allowH2: false,
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
