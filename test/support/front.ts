import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { pipeline } from 'node:stream';

export type Front = {
  readonly url: string;
  /** Where the requests go from now on, each to the next in turn. */
  lead(ports: readonly number[]): void;
  /** How many requests this one has not answered yet. */
  busy(port: number): number;
  close(): Promise<void>;
};

/** One address before several servers, as a load balancer is: it passes everything on, the Host header included. */
export async function openFront(port: number): Promise<Front> {
  let ports: readonly number[] = [];
  let turn = 0;
  const open = new Map<number, number>();
  const busy = (to: number): number => open.get(to) ?? 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const server = createServer((req, res) => {
    const to = ports[(turn += 1) % ports.length] ?? 0;
    open.set(to, busy(to) + 1);
    res.once('close', () => open.set(to, busy(to) - 1));
    const passed = request({ host: 'localhost', port: to, method: req.method, path: req.url, headers: req.headers, agent }, (answer) => {
      if (res.destroyed) return void answer.destroy(); // nobody waits for it any more
      res.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      return void pipeline(answer, res, () => undefined); // what breaks on the one side is broken off on the other
    });
    passed.on('error', () => res.destroy());
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
