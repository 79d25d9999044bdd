import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The way between a server and its database, to be made slow, cut, or silent. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** Where new connections lead from now on. */
  lead(port: number): void;
  /** How long each piece takes from now on, in milliseconds. */
  delay(ms: number): void;
  /** Ends every connection. */
  cut(): void;
  /** Nothing is passed on any more, and nobody is told: neither over the connections that there are nor over new ones. */
  silence(): void;
  /** New connections work again. Those from before the silence stay dead, as behind a firewall that forgot them. */
  goOn(): void;
  /** Ends those that are dead, as each side does in time when it asks whether the other is still there. */
  bury(): void;
};

export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Map<Socket, number>();
  let [leadsTo, delayMs, silent, age] = [target, 0, false, 0];
  const pass = (from: Socket, to: Socket, born: number): void => {
    let written = Promise.resolve();
    const write = async (after: Promise<void>, piece: Buffer): Promise<void> => {
      await after;
      if (delayMs > 0) await sleep(delayMs);
      if (!silent && born === age) to.write(piece);
    };
    from.on('data', (piece) => {
      written = write(written, piece);
    });
    from.on('close', () => {
      sockets.delete(from);
      if (!silent && born === age) to.destroy();
    });
    from.on('error', () => undefined);
  };
  const server = createServer((near) => {
    const far = connect(leadsTo, '127.0.0.1');
    for (const socket of [near, far]) sockets.set(socket.setNoDelay(true), age);
    pass(near, far, age);
    pass(far, near, age);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const end = (isMeant: (born: number) => boolean): void => {
    for (const [socket, born] of sockets) if (isMeant(born)) socket.destroy();
  };
  const cut = (): void => end(() => true);
  return {
    port: address.port,
    lead: (port) => (leadsTo = port),
    delay: (ms) => (delayMs = ms),
    cut,
    silence: () => (silent = true),
    goOn() {
      [silent, age] = [false, age + 1];
    },
    bury: () => end((born) => born < age),
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
