import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { scopeNames } from '@mandate/contract';
import { startMandateServer } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { usesTwoProcesses } from '../../support/server/process-mode.ts';
import { newRequestId } from '../../../server/http/request/request-id.ts';

const shop = withShop({ sampleData: false });

describe('unknown routes and methods', () => {
  test.each([
    '/api/',
    '/api/v1',
    '/api/v9/orders',
    '/api/v1/nothing',
    '/api/v1/Orders',
    '/api/v1/orders/',
    '/api/v1/users/1/',
    '/api/v1//orders',
  ])('return 404 for %s', async (path) => {
    const { status, body } = await shop.callApi('GET', path);
    expect([status, body.code]).toEqual([404, 'route_not_found']);
  });

  test('return 405 with the allowed methods', async () => {
    const { body, headers } = await shop.callApi('DELETE', '/api/v1/orders');
    expect([body.code, headers.get('allow')]).toEqual(['method_not_allowed', 'POST, GET, HEAD, OPTIONS']);
    expect((await shop.callApi('POST', '/api/products/1')).headers.get('allow')).toBe('GET, PATCH, PUT, DELETE, HEAD, OPTIONS');
  });

  test('OPTIONS returns 204 with Allow, and HEAD returns the headers of GET', async () => {
    const options = await shop.callApi('OPTIONS', '/api/v1/products');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS']);
    const [head, get] = [await shop.callApi('HEAD', '/api/v1/products'), await shop.callApi('GET', '/api/v1/products')];
    expect([head.status, head.headers.get('content-length')]).toEqual([200, get.headers.get('content-length')]);
    expect((await shop.callApi('HEAD', '/api/v1/orders')).status).toBe(401);
  });

  test('returns 406 if the client does not accept JSON', async () => {
    expect((await shop.callApi('GET', '/api/v1/products', { headers: { accept: 'text/html' } })).body.code).toBe('not_acceptable');
    expect((await shop.callApi('GET', '/api/v1/products', { headers: { accept: 'text/html, */*;q=0.1' } })).status).toBe(200);
    expect((await shop.callApi('GET', '/api/v1/products', { headers: { accept: 'application/problem+json' } })).status).toBe(200);
  });

  test('returns 400 for an invalid escape sequence in the path', async () => {
    expect((await shop.callApi('GET', '/api/v1/products/%E0%A4%A')).body.code).toBe('invalid_request');
  });
});

describe('response headers', () => {
  test('contain a generated request id, even if the client sent one', async () => {
    const responses = await Promise.all([
      shop.callApi('GET', '/api/v1/products', { headers: { 'x-request-id': 'mine' } }),
      shop.callApi('GET', '/api/v1/orders'),
      shop.callApi('GET', '/api/v1/nothing', { headers: { 'x-request-id': 'x'.repeat(10_000) } }),
      shop.callApi('OPTIONS', '/api/v1/products'),
    ]);
    expect(new Set(responses.map(({ headers }) => headers.get('x-request-id'))).size).toBe(4);
  });

  test('request ids contain a timestamp and 80 random bits', () => {
    const ids = Array.from({ length: 2_000 }, newRequestId);
    expect(ids.filter((id) => !/^req_[0-9A-HJKMNP-TV-Z]{26}$/.test(id))).toEqual([]);
    expect(new Set(ids.map((id) => id.slice(-16))).size).toBe(ids.length);
  });

  test('prevent content sniffing and caching, and contain no ETag or framework name', async () => {
    for (const path of ['/api/v1/products', '/api/v1/orders', '/api/v1/nothing']) {
      const { headers } = await shop.callApi('GET', path);
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('etag')).toBeNull();
      expect([headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual(['nosniff', 'no-store']);
    }
  });

  test('allow CORS without cookies for every origin, even in errors; a preflight needs no token', async () => {
    const { status, headers } = await shop.callApi('OPTIONS', '/api/v1/orders', {
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    expect([status, headers.get('access-control-allow-origin'), headers.get('access-control-max-age')]).toEqual([204, '*', '7200']);
    expect(headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
    const refused = await shop.callApi('GET', '/api/v1/orders', { headers: { origin: 'https://shop.example' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('internal errors', () => {
  test('return 500 without details, and the log contains the details', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: reads each line of the log');
    const lines: string[] = [];
    const broken = await startMandateServer({ log: pino({ level: 'error' }, { write: (entry) => void lines.push(entry) }) });
    try {
      await broken.db.em.fork().execute('drop table delivery_methods cascade');
      const { status, body, text } = await broken.callApi('GET', '/api/v1/delivery-methods');
      expect([status, body.code]).toEqual([500, 'internal_error']);
      expect(text).not.toMatch(/delivery_methods|select|relation|\.ts|node_modules|at /);
      expect(lines).toEqual([expect.stringContaining('delivery_methods')]);
      expect(lines[0]).toContain(body.request_id);
    } finally {
      await broken.close();
    }
  });

  test('an incomplete request does not affect other requests', async () => {
    const socket = connect(Number(new URL(shop.origin).port), '127.0.0.1');
    socket.write(
      'POST /api/v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"items"',
    );
    // when the server has responded to this request, it has also read the incomplete request
    await shop.callApi('GET', '/api/v1/products');
    socket.destroy();
    await once(socket, 'close');
    expect((await shop.callApi('GET', '/api/v1/products')).status).toBe(200);
  });
});

describe('/openapi.json and /openapi-3.0.json', () => {
  test('describe the API of this installation', async () => {
    for (const [path, version] of [
      ['/openapi.json', '3.1.0'],
      ['/openapi-3.0.json', '3.0.3'],
    ]) {
      const response = await fetch(`${shop.origin}${path}`);
      const document = JSON.parse(await response.text());
      expect([response.status, response.headers.get('access-control-allow-origin'), document.openapi]).toEqual([200, '*', version]);
      expect(document.servers).toEqual([{ url: shop.origin, description: 'This installation' }]);
      expect(document.paths['/api/v1/orders/{order_id}'].get.security).toEqual([
        { oauth2: ['orders.read'] },
        { oauth2: ['orders.manage'] },
        { apiKey: [] },
      ]);
      expect(document.components.schemas).toHaveProperty('OrderCreate');
    }
  });
});

describe('the Host header (RFC 9112 section 3.2)', () => {
  const exchange = async (lines: readonly string[]): Promise<string> => {
    const socket = connect(Number(new URL(shop.origin).port), '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => (received += bytes.toString()));
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const timer = setTimeout(() => socket.destroy(), 5_000);
    await once(socket, 'close');
    clearTimeout(timer);
    return received;
  };
  const host = (): string => new URL(shop.origin).host;
  const paths = ['/api/v1/products', '/oauth/jwks', '/sign-in', '/healthz', '/openapi.json'];

  test.each<[string, () => string[]]>([
    ['two different headers', () => [`Host: ${host()}`, 'Host: evil.example']],
    ['two equal headers', () => [`Host: ${host()}`, `host: ${host()}`]],
    ['no header', () => []],
    ['an empty header', () => ['Host:']],
    ['a space', () => ['Host: a b']],
    ['user information', () => ['Host: user@example.com']],
    ['a path', () => ['Host: example.com/x']],
    ['an invalid port', () => ['Host: example.com:x']],
    ['two hosts in one header', () => ['Host: a.example, b.example']],
    ['brackets without an address', () => ['Host: [evil]']],
  ])('%s is rejected with 400', async (_label, headers) => {
    for (const path of paths) {
      const received = await exchange([`GET ${path} HTTP/1.1`, ...headers()]);
      expect(received, path).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(received).toContain('"code":"invalid_request"');
      expect(received.toLowerCase()).toContain('connection: close');
    }
  });

  test('a valid host is accepted, and HTTP/1.0 needs no header', async () => {
    for (const valid of [host(), '[::1]:80', 'localhost', 'xn--bcher-kva.example:'])
      expect(await exchange(['GET /api/v1/products HTTP/1.1', `Host: ${valid}`, 'Connection: close'])).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(['GET /api/v1/products HTTP/1.0'])).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a chunk larger than the body limit', () => {
  const open = (path: string, headers: readonly string[] = []): { socket: Socket; head: string; closed: Promise<string> } => {
    const { host, port } = new URL(shop.origin);
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => (received += bytes.toString()));
    const head = [`POST ${path} HTTP/1.1`, `Host: ${host}`, 'Transfer-Encoding: chunked', ...headers, '', ''].join('\r\n');
    return { socket, head, closed: once(socket, 'close').then(() => received) };
  };
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const json = 'Content-Type: application/json';
  const limitedEndpoints = (token: string): [string, string[], number][] => [
    ['/api/v1/users', [json, `Authorization: Bearer ${token}`], 100_000],
    ['/api/v1/orders', [json, `Authorization: Bearer ${token}`], 1_000_000],
    ['/oauth/token', [form], 56 * 1024],
    ['/oauth/device', [form], 56 * 1024],
    ['/oauth/registration', [json], 56 * 1024],
    ['/sign-in', [form], 16 * 1024],
    ['/sign-up', [form], 16 * 1024],
  ];
  let token: string;
  beforeAll(async () => {
    token = (await shop.createAccount('admin', scopeNames)).token;
  });

  const measureResponse = (closed: Promise<string>): Promise<{ received: string; tookMs: number }> => {
    const at = performance.now();
    return closed.then((received) => ({ received, tookMs: performance.now() - at }));
  };
  const rejection = {
    received: expect.stringMatching(/^HTTP\/1\.1 413 [^]*"code":"payload_too_large"/),
    tookMs: expect.toSatisfy((ms: number) => ms < 3_000),
  };

  test.each([
    ['in the packet with the headers', (head: string, size: string) => [`${head}${size}\r\n`]],
    ['in the next packet', (head: string, size: string) => [head, `${size}\r\n`]],
    ['with headers in two packets', (head: string, size: string) => [head.slice(0, 60), `${head.slice(60)}${size}\r\n`]],
    ['after a small chunk, byte by byte', (head: string, size: string) => [`${head}3\r\nabc\r\n`, ...`${size};x=y\r\n`.split('')]],
  ])('%s is rejected immediately', async (_label, packetsOf) => {
    const send = async ([path, headers, limit]: [string, string[], number], size: number): Promise<void> => {
      const { socket, head, closed } = open(path, headers);
      const responsePromise = measureResponse(closed);
      for (const packet of packetsOf(head, size.toString(16))) {
        if (!socket.destroyed) socket.write(packet);
        await new Promise((sent) => setTimeout(sent, 5));
      }
      const { received, tookMs } = await responsePromise;
      expect({ received, tookMs }).toEqual(rejection);
      // a chunk larger than every operation's limit is rejected before routing, so the error reports the server-wide limit
      const limitPattern = size === limit + 1 ? limit : '\\d+';
      expect([path, received]).toEqual([path, expect.stringMatching(`larger than ${limitPattern} bytes`)]);
    };
    // the requests are concurrent, because the server keeps each rejected connection open for a second
    await Promise.all(
      limitedEndpoints(token).flatMap((endpoint) =>
        [endpoint[2] + 1, 0xff_ff_ff_ff, 0xf_ff_ff_ff_ff_ff_ff].map((size) => send(endpoint, size)),
      ),
    );
  });

  test('many small chunks over the limit are rejected', async () => {
    const { socket, head, closed } = open('/sign-in', [form]);
    const responsePromise = measureResponse(closed);
    socket.write(head);
    for (let sent = 0; sent < 20 && !socket.destroyed; sent += 1) socket.write(`3e8\r\n${'x'.repeat(1_000)}\r\n`);
    expect(await responsePromise).toEqual(rejection);
  });

  test('a chunked body within the limit is read, and so is the next request on the connection', async () => {
    const { socket, head, closed } = open('/api/v1/users', [json, `Authorization: Bearer ${token}`]);
    const body = JSON.stringify({ name: 'Ann', email: 'chunks@example.com' });
    const [first, second] = [body.slice(0, 10), body.slice(10)];
    socket.write(`${head}${first.length.toString(16)}\r\n${first}\r\n`);
    await new Promise((sent) => setTimeout(sent, 50));
    const response = once(socket, 'data');
    socket.write(`${second.length.toString(16)};ext="a b"\r\n${second}\r\n0\r\nTrailer: x\r\n\r\n`);
    await response;
    const again = JSON.stringify({ name: 'Ann', email: 'chunks.too@example.com' });
    socket.write(
      `${head.replace('Transfer-Encoding', 'Connection: close\r\nTransfer-Encoding')}${again.length.toString(16)}\r\n${again}\r\n0\r\n\r\n`,
    );
    expect([...(await closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['201', '201']);
  });
});
