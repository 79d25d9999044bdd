import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer, listenOnLoopback } from './loopback-server.ts';

/**
 * Network faults:
 * - `refused`: the service does not receive the request.
 * - `lost`: the service executes the request, but the client receives no response.
 * - `half`: the client receives the first half of the response.
 * - `html`: the proxy returns a 502 page.
 * - `late`: the response arrives after the client timeout.
 * - `slow`: the second half of the response body arrives after the client timeout.
 */
export const networkFaults = ['refused', 'lost', 'half', 'html', 'late', 'slow'] as const;
export type NetworkFault = (typeof networkFaults)[number];

export type ChaosProxy = AsyncDisposable & { readonly url: string; readonly appliedFaults: (NetworkFault | 'none')[] };

/**
 * Starts a proxy between a client and `target` that injects faults.
 * @param chooseFault returns the fault for the n-th request, counted from 1
 */
export async function openChaosProxy(target: string, chooseFault: (count: number) => NetworkFault | undefined): Promise<ChaosProxy> {
  const seen: (NetworkFault | 'none')[] = [];
  const forward = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const fault = chooseFault(seen.length + 1);
    seen.push(fault ?? 'none');
    const body = await buffer(req);
    if (fault === 'refused') return void req.socket.destroy();
    if (fault === 'html') return void res.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
    const { hostname, port, host } = new URL(target);
    const headers = { ...req.headers, host };
    const upstream = request({ hostname, port, method: req.method, path: req.url, headers });
    upstream.end(body);
    const [response]: IncomingMessage[] = await once(upstream, 'response');
    if (response === undefined) throw new Error('the service returned no response');
    const responseBody = await buffer(response);
    if (fault === 'lost') return void req.socket.destroy();
    if (fault === 'late') await sleep(5_000, undefined, { ref: false });
    res.writeHead(response.statusCode ?? 500, response.rawHeaders);
    if (fault === undefined || fault === 'late') return void res.end(responseBody);
    res.write(responseBody.subarray(0, responseBody.length / 2));
    if (fault === 'half') return void setImmediate(() => req.socket.destroy());
    await sleep(5_000, undefined, { ref: false });
    res.end(responseBody.subarray(responseBody.length / 2));
  };
  const server = createServer((req, res) => void forward(req, res).catch(() => res.destroy()));
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    appliedFaults: seen,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
    },
  };
}
