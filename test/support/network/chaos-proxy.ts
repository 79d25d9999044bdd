import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What happens to an exchange on its way. `refused`: the request is lost. `lost`: the service does what was asked, and
 * the answer is lost. `half`: so is the second half of it. `html`: a proxy answers in between. `late`, `slow`: the answer,
 * or its body, takes longer than anybody waits.
 */
export const faults = ['refused', 'lost', 'half', 'html', 'late', 'slow'] as const;
export type Fault = (typeof faults)[number];

export type ChaosProxy = AsyncDisposable & { readonly url: string; readonly seen: (Fault | 'none')[] };

/** Stands between a client and `target`; `fate` decides what becomes of the n-th request, counted from 1. */
export async function openChaosProxy(target: string, fate: (count: number) => Fault | undefined): Promise<ChaosProxy> {
  const seen: (Fault | 'none')[] = [];
  const pass = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const fault = fate(seen.length + 1);
    seen.push(fault ?? 'none');
    const body = await buffer(req);
    if (fault === 'refused') return void req.socket.destroy();
    if (fault === 'html') return void res.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
    const { hostname, port, host } = new URL(target);
    const headers = { ...req.headers, host };
    const passed = request({ hostname, port, method: req.method, path: req.url, headers });
    passed.end(body);
    const [answer]: IncomingMessage[] = await once(passed, 'response');
    if (answer === undefined) throw new Error('the service did not answer');
    const content = await buffer(answer);
    if (fault === 'lost') return void req.socket.destroy();
    if (fault === 'late') await sleep(5_000, undefined, { ref: false });
    res.writeHead(answer.statusCode ?? 500, answer.rawHeaders);
    if (fault === undefined || fault === 'late') return void res.end(content);
    res.write(content.subarray(0, content.length / 2));
    if (fault === 'half') return void setImmediate(() => req.socket.destroy());
    await sleep(5_000, undefined, { ref: false });
    res.end(content.subarray(content.length / 2));
  };
  const server = createServer((req, res) => void pass(req, res).catch(() => res.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
