import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Log } from '../logging/logger.ts';

export type MetricsAddress = { readonly host: string; readonly port: number };
export type RenderedMetrics = { readonly text: string; readonly contentType: string };

/** Serves `GET /metrics` in the Prometheus text format. Returns a function that stops the server. */
export async function serveMetrics(
  address: MetricsAddress,
  render: () => Promise<RenderedMetrics>,
  log: Log,
): Promise<() => Promise<void>> {
  const sendMetrics = async (res: ServerResponse): Promise<void> => {
    try {
      const { text, contentType } = await render();
      res.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text);
    } catch (error) {
      log.error({ err: error }, 'metrics could not be collected');
      res.writeHead(500).end();
    }
  };
  const server = createServer((req, res) => {
    if (req.method === 'GET' && req.url?.split('?', 1)[0] === '/metrics') void sendMetrics(res);
    else res.writeHead(404).end();
  });
  server.listen(address);
  await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}
