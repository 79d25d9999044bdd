import type { Server } from 'node:http';

/** Returns the number of connections that the server has open. */
export const countConnections = (server: Server | undefined): Promise<number> =>
  new Promise((resolve, reject) => server?.getConnections((error, count) => (error ? reject(error) : resolve(count))));
