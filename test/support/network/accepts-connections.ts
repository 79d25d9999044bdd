import { connect } from 'node:net';

/** Returns whether a server accepts TCP connections on this port of the loopback interface. */
export async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  const accepted = await promise;
  socket.destroy();
  return accepted;
}
