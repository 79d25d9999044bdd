import { once } from 'node:events';
import { request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpServer, type HttpServerOptions } from '../../server/http/server/http-server.ts';
import { releaseSlotWhile, type LoadLimits } from '../../server/http/server/load-shedder.ts';
import { createLog } from '../../server/logging/logger.ts';
import { gate, until } from '../support/network/blocking-handler.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** A server whose application is as slow as the test wants. */
async function serve(handler: RequestListener, options: Partial<HttpServerOptions> = {}): Promise<number> {
  const server = createHttpServer(handler, { issuer: 'https://shop.example', log: createLog(false), ...options });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return z.object({ port: z.number() }).parse(server.address()).port;
}

const problem = z.object({ code: z.string(), status: z.number(), type: z.string(), request_id: z.string(), detail: z.string() });

/** What the server wrote on a connection until it closed it. */
async function everything(socket: Socket): Promise<{ status: number; head: string; problem: z.infer<typeof problem> }> {
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

const few = {
  maxConcurrent: 2,
  maxQueued: 3,
  maxConcurrentOverloaded: 2,
  maxQueuedOverloaded: 3,
  queueTimeoutMs: 200,
} satisfies Partial<LoadLimits>;

/** Whatever nine are answered first. */
const nineOf = async (all: readonly Promise<Response>[]): Promise<Response[]> => {
  const answered: Response[] = [];
  for (const one of all) void one.then((answer) => answered.push(answer));
  await until(() => answered.length >= 9);
  return answered.slice(0, 9);
};

describe('more requests than can be worked on', () => {
  test('wait for their turn while it is a burst', async () => {
    const { handler, entered, open } = gate();
    const port = await serve(handler, { load: { ...few, queueTimeoutMs: 10_000 } });
    const all = [get(port), get(port), get(port), get(port), get(port)];
    await until(() => entered() === 2);
    open();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test('are refused at once when too many wait already: 503 in the one form, and the application sees nothing of it', async () => {
    const { handler, entered, open } = gate();
    const port = await serve(handler, { load: { ...few, queueTimeoutMs: 10_000 } });
    const all = [get(port), get(port), get(port), get(port), get(port)];
    await until(() => entered() === 2);
    // the three that wait have arrived when the next is refused
    let refused = await get(port);
    while (refused.status !== 503) refused = await get(port);
    expect([refused.headers.get('content-type'), refused.headers.get('retry-after')]).toEqual(['application/problem+json', '1']);
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    const body = problem.parse(await refused.json());
    expect(body).toMatchObject({ code: 'unavailable', status: 503, type: 'https://shop.example/problems/unavailable' });
    expect(body.request_id).toBe(refused.headers.get('x-request-id'));
    expect(entered()).toBe(2);
    open();
    await Promise.all(all);
  });

  test('are refused when they have waited too long, and there is room again for the next', async () => {
    const { handler, entered, open } = gate();
    const port = await serve(handler, { load: few });
    const first = [get(port), get(port)];
    await until(() => entered() === 2);
    expect((await get(port)).status).toBe(503);
    open();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await get(port)).status).toBe(200);
  });

  test('have their turn in the order they came, but for a crowd: then all are refused at once but those who came last', async () => {
    const { handler, entered, open } = gate();
    const port = await serve(handler, { load: { ...few, maxQueued: 9, maxQueuedOverloaded: 1, queueTimeoutMs: 60_000 } });
    const first = [get(port), get(port)];
    await until(() => entered() === 2);
    const crowd = Array.from({ length: 10 }, () => get(port));
    const refused = await nineOf(crowd);
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 503));
    expect(entered()).toBe(2);
    open();
    expect((await Promise.all([...first, ...crowd])).filter(({ status }) => status === 200)).toHaveLength(3);
  });

  test('are over when all who still call could wait for their turn, though they do not wait after a refusal', async () => {
    let { handler, entered, open } = gate();
    const port = await serve((req, res) => handler(req, res), {
      load: { ...few, maxQueued: 9, maxQueuedOverloaded: 1, queueTimeoutMs: 60_000 },
    });
    const crowd = Array.from({ length: 12 }, () => get(port));
    await nineOf(crowd);
    open();
    await Promise.all(crowd);
    const refusedOfFive = async (): Promise<number> => {
      ({ handler, entered, open } = gate());
      const five = Array.from({ length: 5 }, () => get(port));
      await until(() => entered() === 2);
      setTimeout(open, 100);
      return (await Promise.all(five)).filter(({ status }) => status === 503).length;
    };
    expect(await refusedOfFive()).toBeGreaterThan(0);
    await expect.poll(refusedOfFive, { timeout: 15_000 }).toBe(0);
  });

  test('are said once in the log', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const { handler, entered, open } = gate();
    const port = await serve(handler, { load: few, log });
    const first = [get(port), get(port)];
    await until(() => entered() === 2);
    for (let at = 0; at < 3; at += 1) expect((await get(port)).status).toBe(503);
    expect(lines).toEqual([expect.stringContaining('refused with 503')]);
    open();
    await Promise.all(first);
  });

  test('are not those that wait for something else', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let entered = 0;
    const port = await serve(
      (_req, res) => {
        entered += 1;
        void releaseSlotWhile(res, promise).then(() => res.end('news'));
      },
      { load: few },
    );
    const all = Array.from({ length: 20 }, () => get(port));
    await until(() => entered === 20);
    resolve();
    expect((await Promise.all(all)).every(({ status }) => status === 200)).toBe(true);
  });

  test('are not those that have left', async () => {
    const { handler, entered, open } = gate();
    const port = await serve(handler, { load: few });
    const gone = await Promise.all([send(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'), send(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')]);
    await until(() => entered() === 2);
    for (const socket of gone) socket.destroy();
    open();
    let status = 503;
    while (status === 503) status = (await get(port)).status;
    expect(status).toBe(200);
  });
});

describe('whoever is slow', () => {
  test('to send a body keeps nobody from being served, and is answered when it has come', async () => {
    const port = await serve(
      (req, res) => {
        req.resume();
        req.on('end', () => res.end('read'));
      },
      { load: few },
    );
    const slow = await Promise.all(
      Array.from({ length: 10 }, () => send(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n12345')),
    );
    let served = 0;
    while (served < 5) if ((await get(port)).status === 200) served += 1;
    const answers = slow.map(async (socket) => {
      const chunks: string[] = [];
      socket.on('data', (chunk) => chunks.push(String(chunk)));
      await once(socket, 'close');
      return chunks.join('');
    });
    // those that found no place were refused; the others go on
    for (const socket of slow) socket.write('67890');
    expect((await Promise.all(answers)).filter((text) => text.startsWith('HTTP/1.1 200')).length).toBeGreaterThanOrEqual(2);
  });

  test('to send a body for too long is answered 408', async () => {
    const port = await serve((req) => void req.resume(), { load: { ...few, bodyTimeoutMs: 50 } });
    const socket = await send(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
    expect((await everything(socket)).problem.code).toBe('request_timeout');
  });

  test('to send headers is answered 408 in the one form', async () => {
    const port = await serve((_req, res) => res.end(), { timeouts: { headers: 100 } });
    const { status, head, problem: body } = await everything(await send(port, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow:'));
    expect([status, body.code, body.status]).toEqual([408, 'request_timeout', 408]);
    expect(head).toContain(`X-Request-Id: ${body.request_id}`);
  });

  test('to send the whole request is answered 408', async () => {
    const port = await serve((req) => void req.resume(), { timeouts: { headers: 100, request: 200 } });
    const socket = await send(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
    expect((await everything(socket)).problem.code).toBe('request_timeout');
  });

  test('to read is cut off, and holds no place meanwhile', async () => {
    const much = Buffer.alloc(50_000_000, 'x');
    const port = await serve((req, res) => res.end(req.url === '/much' ? much : 'little'), { load: few, timeouts: { idle: 1_000 } });
    const readers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const socket = await send(port, 'GET /much HTTP/1.1\r\nHost: x\r\n\r\n');
        socket.pause();
        return socket;
      }),
    );
    expect((await get(port)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    for (const socket of readers) {
      let read = 0;
      socket.on('data', ({ length }) => (read += length));
      socket.resume();
      await once(socket, 'close');
      expect(read).toBeLessThan(much.length);
    }
  });

  test('to answer: 503 instead of an answer without end', async () => {
    const port = await serve(() => undefined, { load: { ...few, handlerTimeoutMs: 100 } });
    const answer = await get(port);
    expect([answer.status, problem.parse(await answer.json()).code]).toEqual([503, 'unavailable']);
  });
});

describe('what is not a request', () => {
  test.each([
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a URL that is too long', `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 414, 'uri_too_long'],
    ['a URL that is longer than all headers may be', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, 'uri_too_long'],
    ['garbage', 'HELO shop.example\r\n\r\n', 400, 'invalid_request'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12', 400, 'invalid_request'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request',
    ],
  ])('%s: in the one form', async (_what, text, status, code) => {
    let reached = 0;
    const port = await serve((_req, res) => {
      reached += 1;
      res.end();
    });
    const answer = await everything(await send(port, text));
    expect([answer.status, answer.problem.status, answer.problem.code, reached]).toEqual([status, status, code, 0]);
    expect(answer.head).toContain('Content-Type: application/problem+json');
  });

  test('does not break into an answer that is being written', async () => {
    const port = await serve((_req, res) => {
      res.write('first');
    });
    const socket = await send(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    await until(() => text.includes('first'));
    socket.write('garbage\r\n\r\n');
    await once(socket, 'close');
    expect(text).not.toContain('problem');
  });
});

test('a request keeps its connection for the next', async () => {
  const port = await serve((_req, res) => res.end('done'));
  const answer = await new Promise<IncomingMessage>((resolve) => request({ port, host: '127.0.0.1' }, resolve).end());
  expect(answer.headers.connection).toBe('keep-alive');
});
