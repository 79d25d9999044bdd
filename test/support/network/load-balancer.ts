import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

export type Front = {
  readonly url: string;
  /** Where the requests go from now on, each to the next in turn. */
  lead(ports: readonly number[]): void;
  /** How many requests this one has not answered yet. */
  busy(port: number): number;
  close(): Promise<void>;
};

/** Longer than anybody pauses: a request that meets a connection as it is closed is lost. */
const keepAliveTimeout = 75_000;

/**
 * One address before several servers, as a load balancer is: each request goes to the next of them, whatever connection it came over,
 * and everything is passed on as it came, the Host header included.
 * @param inspect is shown every exchange before it begins, and each then has a connection to the server of its own: a test may send what a server
 * breaks the connection for, and whoever comes after it over the same one is not to notice
 */
export async function openFront(port: number, inspect?: (req: IncomingMessage, res: ServerResponse) => void): Promise<Front> {
  let ports: readonly number[] = [];
  let turn = 0;
  const open = new Map<number, number>();
  const busy = (to: number): number => open.get(to) ?? 0;
  const agent = new Agent({ keepAlive: inspect === undefined, maxSockets: 1_000 });
  const server = createServer({ maxHeaderSize: 65_536, keepAliveTimeout }, (req, res) => {
    inspect?.(req, res);
    const to = ports[(turn += 1) % ports.length] ?? 0;
    open.set(to, busy(to) + 1);
    const passed = request({ host: 'localhost', port: to, method: req.method, path: req.url, headers: req.rawHeaders, agent });
    res.once('close', () => {
      open.set(to, busy(to) - 1);
      if (!res.writableFinished) passed.destroy(); // nobody waits for it any more
    });
    passed.once('response', (answer) => {
      res.statusCode = answer.statusCode ?? 502;
      for (const [name, values = []] of Object.entries(answer.headersDistinct))
        res.setHeader(name, values.length === 1 ? values.join() : values);
      pipeline(answer, res, () => undefined); // what breaks on the one side is broken off on the other
    });
    // a server that has answered need not take the rest of the request
    passed.on('error', () => void (res.headersSent || res.destroy()));
    passed.flushHeaders(); // whoever sends a body may wait for the answer first
    req.pipe(passed);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${port}`,
    lead: (to) => (ports = to),
    busy,
    async close() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
