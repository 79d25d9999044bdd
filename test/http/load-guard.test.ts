import { once } from 'node:events';
import { request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpServer, type HttpServerOptions } from '../../server/http/server/http-server.ts';
import { releaseLoadShedderSlotWhile, type LoadLimits } from '../../server/http/server/load-shedder.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { createBlockingHandler } from '../support/network/blocking-handler.ts';
import { countConnections } from '../support/network/count-connections.ts';
import { closeServer, listenOnLoopback } from '../support/network/loopback-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    await closeServer(server);
  }
});

/** Starts an HTTP server with a test handler. Returns the port. */
async function serve(handler: RequestListener, options: Partial<HttpServerOptions> = {}): Promise<number> {
  const server = createHttpServer(handler, { issuer: 'https://shop.example', log: createLogger(false), ...options });
  servers.push(server);
  return listenOnLoopback(server);
}

const problem = z.object({ code: z.string(), status: z.number(), type: z.string(), request_id: z.string(), detail: z.string() });

/** Reads from the connection until the server closes it. Returns the response status, the headers and the problem. */
async function readProblemUntilClose(socket: Socket): Promise<{ status: number; head: string; problem: z.infer<typeof problem> }> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.slice(9, 12)), head, problem: problem.parse(JSON.parse(body)) };
}

async function send(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.write(text);
  return socket;
}

const get = (port: number): Promise<Response> => fetch(`http://127.0.0.1:${port}/`);

const smallLimits = {
  maxConcurrent: 2,
  maxQueued: 3,
  maxConcurrentOverloaded: 2,
  maxQueuedOverloaded: 3,
  queueTimeoutMs: 200,
} satisfies Partial<LoadLimits>;

/** Returns the first nine responses. */
const firstNineResponses = async (all: readonly Promise<Response>[]): Promise<Response[]> => {
  const responses: Response[] = [];
  for (const pending of all) void pending.then((response) => responses.push(response));
  await waitUntil(() => responses.length >= 9);
  return responses.slice(0, 9);
};

describe('the load shedder', () => {
  test('queues the requests of a short burst', async () => {
    const { handler, entered, open } = createBlockingHandler();
    const port = await serve(handler, { load: { ...smallLimits, queueTimeoutMs: 10_000 } });
    const all = [get(port), get(port), get(port), get(port), get(port)];
    await waitUntil(() => entered() === 2);
    open();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test('rejects requests immediately with a 503 problem when the queue is full, without calling the handler', async () => {
    const { handler, entered, open } = createBlockingHandler();
    const port = await serve(handler, { load: { ...smallLimits, queueTimeoutMs: 10_000 } });
    const all = [get(port), get(port), get(port), get(port), get(port)];
    await waitUntil(() => entered() === 2);
    // the first rejection shows that the three queued requests have arrived
    let rejected = await get(port);
    while (rejected.status !== 503) rejected = await get(port);
    expect([rejected.headers.get('content-type'), rejected.headers.get('retry-after')]).toEqual(['application/problem+json', '1']);
    expect(rejected.headers.get('access-control-allow-origin')).toBe('*');
    const body = problem.parse(await rejected.json());
    expect(body).toMatchObject({ code: 'unavailable', status: 503, type: 'https://shop.example/problems/unavailable' });
    expect(body.request_id).toBe(rejected.headers.get('x-request-id'));
    expect(entered()).toBe(2);
    open();
    await Promise.all(all);
  });

  test('rejects requests after the queue timeout, and accepts later requests', async () => {
    const { handler, entered, open } = createBlockingHandler();
    const port = await serve(handler, { load: smallLimits });
    const first = [get(port), get(port)];
    await waitUntil(() => entered() === 2);
    expect((await get(port)).status).toBe(503);
    open();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await get(port)).status).toBe(200);
  });

  test('keeps only the newest requests of an overload in the queue and rejects all others immediately', async () => {
    const { handler, entered, open } = createBlockingHandler();
    const port = await serve(handler, { load: { ...smallLimits, maxQueued: 9, maxQueuedOverloaded: 1, queueTimeoutMs: 60_000 } });
    const first = [get(port), get(port)];
    await waitUntil(() => entered() === 2);
    const burst = Array.from({ length: 10 }, () => get(port));
    const rejected = await firstNineResponses(burst);
    expect(rejected.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 503));
    expect(entered()).toBe(2);
    open();
    expect((await Promise.all([...first, ...burst])).filter(({ status }) => status === 200)).toHaveLength(3);
  });

  test('leaves the overload mode when the queue can hold all clients, even if clients retry immediately', async () => {
    let { handler, entered, open } = createBlockingHandler();
    const port = await serve((req, res) => handler(req, res), {
      load: { ...smallLimits, maxQueued: 9, maxQueuedOverloaded: 1, queueTimeoutMs: 60_000 },
    });
    const burst = Array.from({ length: 12 }, () => get(port));
    await firstNineResponses(burst);
    open();
    await Promise.all(burst);
    const countRejectionsOfFive = async (): Promise<number> => {
      ({ handler, entered, open } = createBlockingHandler());
      const requests = Array.from({ length: 5 }, () => get(port));
      await waitUntil(() => entered() === 2);
      setTimeout(open, 100);
      return (await Promise.all(requests)).filter(({ status }) => status === 503).length;
    };
    expect(await countRejectionsOfFive()).toBeGreaterThan(0);
    await expect.poll(countRejectionsOfFive, { timeout: 15_000 }).toBe(0);
  });

  test('logs an overload once', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const { handler, entered, open } = createBlockingHandler();
    const port = await serve(handler, { load: smallLimits, log });
    const first = [get(port), get(port)];
    await waitUntil(() => entered() === 2);
    for (let at = 0; at < 3; at += 1) expect((await get(port)).status).toBe(503);
    expect(lines).toEqual([expect.stringContaining('rejected with 503')]);
    open();
    await Promise.all(first);
  });

  test('does not count requests that have released their slot', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let entered = 0;
    const port = await serve(
      (_req, res) => {
        entered += 1;
        void releaseLoadShedderSlotWhile(res, promise).then(() => res.end('news'));
      },
      { load: smallLimits },
    );
    const all = Array.from({ length: 20 }, () => get(port));
    await waitUntil(() => entered === 20);
    resolve();
    expect((await Promise.all(all)).every(({ status }) => status === 200)).toBe(true);
  });

  test('does not count requests of disconnected clients', async () => {
    const { handler, entered, open } = createBlockingHandler();
    const port = await serve(handler, { load: smallLimits });
    const disconnected = await Promise.all([
      send(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      send(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    ]);
    await waitUntil(() => entered() === 2);
    for (const socket of disconnected) socket.destroy();
    open();
    let status = 503;
    while (status === 503) status = (await get(port)).status;
    expect(status).toBe(200);
  });
});

describe('a slow client or handler', () => {
  test('with a slow request body does not block other clients, and receives a response after the body arrives', async () => {
    const port = await serve(
      (req, res) => {
        req.resume();
        req.on('end', () => res.end('read'));
      },
      { load: smallLimits },
    );
    const slowSockets = await Promise.all(
      Array.from({ length: 10 }, () => send(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n12345')),
    );
    let served = 0;
    while (served < 5) if ((await get(port)).status === 200) served += 1;
    const responses = slowSockets.map(async (socket) => {
      const chunks: string[] = [];
      socket.on('data', (chunk) => chunks.push(String(chunk)));
      await once(socket, 'close');
      return chunks.join('');
    });
    // requests without a slot were rejected; the others continue
    for (const socket of slowSockets) socket.write('67890');
    expect((await Promise.all(responses)).filter((text) => text.startsWith('HTTP/1.1 200')).length).toBeGreaterThanOrEqual(2);
  });

  test('receives 408 when the request body exceeds its time limit', async () => {
    const port = await serve((req) => void req.resume(), { load: { ...smallLimits, bodyTimeoutMs: 50 } });
    const socket = await send(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
    expect((await readProblemUntilClose(socket)).problem.code).toBe('request_timeout');
  });

  test('receives a 408 problem when the headers exceed their time limit', async () => {
    const port = await serve((_req, res) => res.end(), { timeouts: { headers: 100 } });
    const { status, head, problem: body } = await readProblemUntilClose(await send(port, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow:'));
    expect([status, body.code, body.status]).toEqual([408, 'request_timeout', 408]);
    expect(head).toContain(`X-Request-Id: ${body.request_id}`);
  });

  test('receives 408 when the whole request exceeds its time limit', async () => {
    const port = await serve((req) => void req.resume(), { timeouts: { headers: 100, request: 200 } });
    const socket = await send(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
    expect((await readProblemUntilClose(socket)).problem.code).toBe('request_timeout');
  });

  test('that reads slowly is disconnected and occupies no slot', async () => {
    const largeBody = Buffer.alloc(50_000_000, 'x');
    const port = await serve((req, res) => res.end(req.url === '/much' ? largeBody : 'little'), {
      load: smallLimits,
      timeouts: { idle: 1_000 },
    });
    const readers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const socket = await send(port, 'GET /much HTTP/1.1\r\nHost: x\r\n\r\n');
        socket.pause();
        return socket;
      }),
    );
    expect((await get(port)).status).toBe(200);
    await waitUntil(async () => (await countConnections(servers.at(-1))) === 0);
    for (const socket of readers) {
      let read = 0;
      socket.on('data', ({ length }) => (read += length));
      socket.resume();
      await once(socket, 'close');
      expect(read).toBeLessThan(largeBody.length);
    }
  });

  test('results in 503 when the handler exceeds its time limit', async () => {
    const port = await serve(() => undefined, { load: { ...smallLimits, handlerTimeoutMs: 100 } });
    const response = await get(port);
    expect([response.status, problem.parse(await response.json()).code]).toEqual([503, 'unavailable']);
  });
});

describe('a malformed request', () => {
  const post = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length:';
  test.each([
    ['too large headers', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a too long URL', `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 414, 'uri_too_long'],
    ['a URL that exceeds the limit for headers', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, 'uri_too_long'],
    ['garbage', 'HELO shop.example\r\n\r\n', 400, 'invalid_request'],
    ['two Content-Length headers', `${post} 1\r\nContent-Length: 2\r\n\r\n12`, 400, 'invalid_request'],
    ['Content-Length with chunked encoding', `${post} 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400, 'invalid_request'],
  ])('with %s receives a problem response', async (_what, text, status, code) => {
    let handled = 0;
    const port = await serve((_req, res) => {
      handled += 1;
      res.end();
    });
    const response = await readProblemUntilClose(await send(port, text));
    expect([response.status, response.problem.status, response.problem.code, handled]).toEqual([status, status, code, 0]);
    expect(response.head).toContain('Content-Type: application/problem+json');
  });

  test('does not interrupt a response in progress', async () => {
    const port = await serve((_req, res) => {
      res.write('first');
    });
    const socket = await send(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    await waitUntil(() => text.includes('first'));
    socket.write('garbage\r\n\r\n');
    await once(socket, 'close');
    expect(text).not.toContain('problem');
  });
});

test('the server keeps the connection open after a response', async () => {
  const port = await serve((_req, res) => res.end('done'));
  const response = await new Promise<IncomingMessage>((resolve) => request({ port, host: '127.0.0.1' }, resolve).end());
  expect(response.headers.connection).toBe('keep-alive');
});
