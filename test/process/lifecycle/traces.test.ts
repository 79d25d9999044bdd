import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { createDatabaseEnvironment, databaseKind } from '../../support/services/database.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';
import { placeOrder, readOrder, createOrderClient } from './order-client.ts';
import { closeServer, listenOnLoopback } from '../../support/network/loopback-server.ts';

afterEach(killServerProcesses);

type Collector = AsyncDisposable & {
  readonly url: string;
  readonly received: { readonly path: string; readonly type: string; readonly text: string }[];
};

/** Receives traces over OTLP/HTTP. Protobuf encodes strings as plain text. */
async function openCollector(): Promise<Collector> {
  const received: Collector['received'] = [];
  const take = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const text = (await buffer(req)).toString('latin1');
    received.push({ path: req.url ?? '', type: req.headers['content-type'] ?? '', text });
    res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  };
  const server = createServer((req, res) => void take(req, res));
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      await closeServer(server);
    },
  };
}

test('traces contain routes and statements, and no data of requests', { timeout: 300_000 }, async () => {
  await using data = await createDataDirectory();
  await using collector = await openCollector();
  const database = await createDatabaseEnvironment();
  const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...database });
  const orderClient = await createOrderClient(server.url, data.path);
  const { id } = await placeOrder(orderClient, 'traced-reference');
  await readOrder(orderClient, id);
  await fetch(`${server.url}/api/v1/products?sku=traced-query`);
  await fetch(`${server.url}/oauth/authorize?client_id=traced-query&state=traced-state`, { redirect: 'manual' });
  await fetch(`${server.url}/sign-in/traced-interaction?code=traced-code`, { headers: { cookie: 'traced=traced-cookie' } });
  await fetch(`${server.url}/healthz`);
  // the server exports the remaining traces when it stops
  expect(await server.stop()).toBe(0);

  const sent = collector.received.map(({ text }) => text).join('\n');
  expect(new Set(collector.received.map(({ path, type }) => `${path} ${type}`))).toEqual(new Set(['/v1/traces application/x-protobuf']));
  for (const route of ['POST /api/v1/orders', 'GET /api/v1/orders/:order_id', 'GET /api/v1/products']) expect(sent).toContain(route);
  expect(sent.includes('place_order')).toBe(databaseKind === 'postgresql');
  expect(sent).not.toMatch(/traced-|healthz/);
  expect(sent).not.toContain(orderClient.token);
});

test('an unavailable collector is logged once and does not affect requests', { timeout: 300_000 }, async () => {
  await using data = await createDataDirectory();
  const database = await createDatabaseEnvironment();
  const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ...database });
  const orderClient = await createOrderClient(server.url, data.path);
  expect((await placeOrder(orderClient, 'untraced')).id).toBeGreaterThan(0);
  await expect.poll(() => server.output(), { timeout: 60_000 }).toContain('traces cannot be sent');
  expect(await server.stop()).toBe(0);
  expect(server.output().split('traces cannot be sent')).toHaveLength(2);
});
