import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createHttpServer } from '../../server/http/server/http-server.ts';
import type { LoadShedder, LoadLimits } from '../../server/http/server/load-shedder.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { countConnections } from '../support/network/count-connections.ts';
import { listenOnLoopback } from '../support/network/loopback-server.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: Server | undefined;
let shedder: LoadShedder | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  if (server) await once(server, 'close');
});

async function serve(handler: RequestListener, load: Partial<LoadLimits>): Promise<number> {
  const watchLoad = (loadShedder: LoadShedder): void => void (shedder = loadShedder);
  server = createHttpServer(handler, { issuer: 'https://shop.example', log: createLogger(false), load, watchLoad });
  return listenOnLoopback(server);
}

async function send(port: number, text: string): Promise<{ socket: Socket; closed: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return { socket, closed: once(socket, 'close').then(() => received) };
}

test('the server removes the queued request of a disconnected client', async () => {
  const handled: (string | undefined)[] = [];
  const release = Promise.withResolvers<void>();
  const port = await serve(
    (req, res) => {
      handled.push(req.url);
      void release.promise.then(() => res.end('done'));
    },
    { maxConcurrent: 1, maxQueued: 5 },
  );
  const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`;
  const first = await send(port, request('/first'));
  await waitUntil(() => handled.length === 1);
  const disconnecting = await send(port, request('/disconnecting'));
  await waitUntil(() => shedder?.counts.waiting === 1);
  const last = await send(port, request('/last'));
  await waitUntil(() => shedder?.counts.waiting === 2);
  disconnecting.socket.destroy();
  await disconnecting.closed;
  await waitUntil(async () => (await countConnections(server)) === 2);
  release.resolve();
  expect([await first.closed, await last.closed]).toEqual([expect.stringMatching(/done$/), expect.stringMatching(/done$/)]);
  expect(handled).toEqual(['/first', '/last']);
});

test('the time limit for a request body depends on Content-Length', async () => {
  const port = await serve((req, res) => void req.resume().on('end', () => res.end('read')), { bodyTimeoutMs: 100 });
  const requestStart = (length: number): string =>
    `POST / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\nx`;
  // the time limit grows by 1 ms per 100 bytes, so this body may take three seconds
  const length = 290_000;
  const [long, short] = [await send(port, requestStart(length)), await send(port, requestStart(10))];
  expect(await short.closed).toMatch(/^HTTP\/1\.1 408 /);
  await sleep(400);
  long.socket.write('x'.repeat(length - 1));
  expect(await long.closed).toMatch(/^HTTP\/1\.1 200 [^]*read$/);
});
