import type { Server } from 'node:http';

/** Returns the number of the server's open connections. */
export const countConnections = (server: Server | undefined): Promise<number> =>
  new Promise((resolve, reject) => server?.getConnections((error, count) => (error ? reject(error) : resolve(count))));
