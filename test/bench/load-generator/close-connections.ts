import type { Traffic } from './traffic.ts';

/** Average number of requests after which clients close a connection and open a new one. */
const requestsPerConnection = 100;

/** Adds `Connection: close` to some of the requests, because real clients eventually close their connections. */
export const closeSomeConnections = (traffic: Traffic): Traffic => ({
  ...traffic,
  first() {
    const request = traffic.first();
    const isLast = Math.random() * requestsPerConnection < 1;
    return isLast ? { ...request, headers: { ...request.headers, connection: 'close' } } : request;
  },
});
