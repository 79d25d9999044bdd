import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpServer } from '../../server/http/server/http-server.ts';
import type { LoadShedder, LoadLimits } from '../../server/http/server/load-shedder.ts';
import { createLog } from '../../server/logging/logger.ts';
import { until } from '../support/network/blocking-handler.ts';

let server: Server | undefined;
let guard: LoadShedder | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  if (server) await once(server, 'close');
});

async function serve(handler: RequestListener, load: Partial<LoadLimits>): Promise<number> {
  const watchLoad = (one: LoadShedder): void => void (guard = one);
  server = createHttpServer(handler, { issuer: 'https://shop.example', log: createLog(false), load, watchLoad });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return z.object({ port: z.number() }).parse(server.address()).port;
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

test('a caller who disconnects while the request waits for its turn is left out', async () => {
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
  await until(() => handled.length === 1);
  const leaving = await send(port, request('/leaving'));
  await until(() => guard?.counts.waiting === 1);
  const last = await send(port, request('/last'));
  await until(() => guard?.counts.waiting === 2);
  leaving.socket.destroy();
  await leaving.closed;
  await sleep(100); // until the server has noticed
  release.resolve();
  expect([await first.closed, await last.closed]).toEqual([expect.stringMatching(/done$/), expect.stringMatching(/done$/)]);
  expect(handled).toEqual(['/first', '/last']);
});

test('a long body has more time to arrive than a short one, by its stated length', async () => {
  const port = await serve((req, res) => void req.resume().on('end', () => res.end('read')), { bodyTimeoutMs: 100 });
  const begin = (length: number): string =>
    `POST / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\nx`;
  // 100 bytes take a millisecond: this one may take three seconds
  const length = 290_000;
  const [long, short] = [await send(port, begin(length)), await send(port, begin(10))];
  expect(await short.closed).toMatch(/^HTTP\/1\.1 408 /);
  await sleep(400);
  long.socket.write('x'.repeat(length - 1));
  expect(await long.closed).toMatch(/^HTTP\/1\.1 200 [^]*read$/);
});
