import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOnLoopback } from './loopback-server.ts';

/** A TCP proxy between a server and its database that can delay data, drop data and close connections. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** Sets the target port for new connections. */
  setTargetPort(port: number): void;
  /** Sets the delay for every chunk, in milliseconds. */
  setDelay(ms: number): void;
  /** Closes all connections. */
  closeConnections(): void;
  /** Drops all data on existing and new connections, but leaves the connections open. */
  dropTraffic(): void;
  /** Forwards data on new connections again. Connections opened before this call remain dead, as if a firewall had lost their state. */
  forwardNewConnections(): void;
  /** Closes the dead connections, as TCP keepalive eventually does. */
  closeDeadConnections(): void;
};

export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Map<Socket, number>();
  let [targetPort, delayMs, silent, generation] = [target, 0, false, 0];
  const forward = (from: Socket, to: Socket, openedIn: number): void => {
    let lastWrite = Promise.resolve();
    const write = async (after: Promise<void>, chunk: Buffer): Promise<void> => {
      await after;
      if (delayMs > 0) await sleep(delayMs);
      if (!silent && openedIn === generation) to.write(chunk);
    };
    from.on('data', (chunk) => {
      lastWrite = write(lastWrite, chunk);
    });
    from.on('close', () => {
      sockets.delete(from);
      if (!silent && openedIn === generation) to.destroy();
    });
    from.on('error', () => undefined);
  };
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    for (const socket of [client, upstream]) sockets.set(socket.setNoDelay(true), generation);
    forward(client, upstream, generation);
    forward(upstream, client, generation);
  });
  const port = await listenOnLoopback(server);
  const closeMatching = (matches: (openedIn: number) => boolean): void => {
    for (const [socket, openedIn] of sockets) if (matches(openedIn)) socket.destroy();
  };
  const cut = (): void => closeMatching(() => true);
  return {
    port,
    setTargetPort: (newPort) => (targetPort = newPort),
    setDelay: (ms) => (delayMs = ms),
    closeConnections: cut,
    dropTraffic: () => (silent = true),
    forwardNewConnections() {
      [silent, generation] = [false, generation + 1];
    },
    closeDeadConnections: () => closeMatching((openedIn) => openedIn < generation),
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
