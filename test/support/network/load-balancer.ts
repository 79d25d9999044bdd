import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { closeServer } from './loopback-server.ts';

export type LoadBalancer = {
  readonly url: string;
  /** Sets the ports that receive all subsequent requests in rotation. */
  setPorts(ports: readonly number[]): void;
  /** Returns the number of in-flight requests to the server on this port. */
  countInFlightRequests(port: number): number;
  close(): Promise<void>;
};

/** The keep-alive timeout exceeds every pause between requests, because a request on a closing connection would be lost. */
const keepAliveTimeout = 75_000;

/**
 * Starts a load balancer in front of several servers. The load balancer forwards each request to the next server in rotation, regardless of
 * the client connection, with all headers unchanged, including Host.
 * @param inspect is called with every request and its response object before the request is forwarded. With `inspect`, every request uses a
 * separate server connection, because some tests send requests that make the server close the connection.
 */
export async function startLoadBalancer(
  port: number,
  inspect?: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<LoadBalancer> {
  let ports: readonly number[] = [];
  let requestCount = 0;
  const inFlight = new Map<number, number>();
  const busy = (to: number): number => inFlight.get(to) ?? 0;
  // Idle connections are closed long before the server would close them, because a request on a closing connection would be lost.
  const agent = new Agent({ keepAlive: inspect === undefined, maxSockets: 1_000, timeout: 500 });
  const server = createServer({ maxHeaderSize: 65_536, keepAliveTimeout }, (req, res) => {
    inspect?.(req, res);
    const to = ports[(requestCount += 1) % ports.length] ?? 0;
    inFlight.set(to, busy(to) + 1);
    const upstream = request({ host: 'localhost', port: to, method: req.method, path: req.url, headers: req.rawHeaders, agent });
    res.once('close', () => {
      inFlight.set(to, busy(to) - 1);
      if (!res.writableFinished) upstream.destroy(); // the client has disconnected
    });
    upstream.once('response', (response) => {
      res.statusCode = response.statusCode ?? 502;
      for (const [name, values = []] of Object.entries(response.headersDistinct))
        res.setHeader(name, values.length === 1 ? values.join() : values);
      pipeline(response, res, () => undefined); // an error on one connection destroys the other one
    });
    // a server that has sent a response may stop reading the request
    upstream.on('error', () => void (res.headersSent || res.destroy()));
    upstream.flushHeaders(); // a client may wait for the response before it sends the body
    req.pipe(upstream);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${port}`,
    setPorts: (to) => (ports = to),
    countInFlightRequests: busy,
    async close() {
      agent.destroy();
      await closeServer(server);
    },
  };
}
