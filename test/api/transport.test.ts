import { connect } from 'node:net';
import { once } from 'node:events';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMandate, type Mandate } from '../support/mandate.ts';
import { inTwoProcesses } from '../support/one-process.ts';

let mandate: Mandate;
beforeAll(async () => {
  mandate = await startMandate();
});
afterAll(() => mandate.close());

describe('what no route answers', () => {
  test.each([
    '/api/',
    '/api/v1',
    '/api/v9/orders',
    '/api/v1/nothing',
    '/api/v1/Orders',
    '/api/v1/orders/',
    '/api/v1/users/1/',
    '/api/v1//orders',
  ])('404 in the one form: %s', async (path) => {
    const { status, body } = await mandate.call('GET', path);
    expect([status, body.code]).toEqual([404, 'route_not_found']);
  });

  test('405 with what there is instead', async () => {
    const { body, headers } = await mandate.call('DELETE', '/api/v1/orders');
    expect([body.code, headers.get('allow')]).toEqual(['method_not_allowed', 'POST, GET, HEAD, OPTIONS']);
    expect((await mandate.call('POST', '/api/products/1')).headers.get('allow')).toBe('GET, PATCH, PUT, DELETE, HEAD, OPTIONS');
  });

  test('OPTIONS: 204 with Allow; HEAD: GET without its body', async () => {
    const options = await mandate.call('OPTIONS', '/api/v1/products');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS']);
    const [head, get] = [await mandate.call('HEAD', '/api/v1/products'), await mandate.call('GET', '/api/v1/products')];
    expect([head.status, head.headers.get('content-length')]).toEqual([200, get.headers.get('content-length')]);
    expect((await mandate.call('HEAD', '/api/v1/orders')).status).toBe(401);
  });

  test('406 when the caller accepts no JSON', async () => {
    expect((await mandate.call('GET', '/api/v1/products', { headers: { accept: 'text/html' } })).body.code).toBe('not_acceptable');
    expect((await mandate.call('GET', '/api/v1/products', { headers: { accept: 'text/html, */*;q=0.1' } })).status).toBe(200);
    expect((await mandate.call('GET', '/api/v1/products', { headers: { accept: 'application/problem+json' } })).status).toBe(200);
  });

  test('a broken escape in the path is 400, not 500', async () => {
    expect((await mandate.call('GET', '/api/v1/products/%E0%A4%A')).body.code).toBe('invalid_request');
  });
});

describe('what every answer carries', () => {
  test('an id of its own, whatever the caller sent as one', async () => {
    const answers = await Promise.all([
      mandate.call('GET', '/api/v1/products', { headers: { 'x-request-id': 'mine' } }),
      mandate.call('GET', '/api/v1/orders'),
      mandate.call('GET', '/api/v1/nothing', { headers: { 'x-request-id': 'x'.repeat(10_000) } }),
      mandate.call('OPTIONS', '/api/v1/products'),
    ]);
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(4);
  });

  test('no framework, no sniffing, no cache, no ETag stamped on everything', async () => {
    for (const path of ['/api/v1/products', '/api/v1/orders', '/api/v1/nothing']) {
      const { headers } = await mandate.call('GET', path);
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('etag')).toBeNull();
      expect([headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual(['nosniff', 'no-store']);
    }
  });

  test('CORS for every page and without cookies, on failures too; a preflight needs no token', async () => {
    const { status, headers } = await mandate.call('OPTIONS', '/api/v1/orders', {
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    expect([status, headers.get('access-control-allow-origin'), headers.get('access-control-max-age')]).toEqual([204, '*', '7200']);
    expect(headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
    const refused = await mandate.call('GET', '/api/v1/orders', { headers: { origin: 'https://shop.example' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('when something breaks inside', () => {
  test('500 says nothing of it to the caller, and everything to the log', async ({ skip }) => {
    skip(inTwoProcesses, 'needs one process: reads each line of the log');
    const lines: string[] = [];
    const broken = await startMandate({ log: pino({ level: 'error' }, { write: (entry) => void lines.push(entry) }) });
    try {
      await broken.db.em.fork().execute('drop table delivery_methods cascade');
      const { status, body, text } = await broken.call('GET', '/api/v1/delivery-methods');
      expect([status, body.code]).toEqual([500, 'internal_error']);
      expect(text).not.toMatch(/delivery_methods|select|relation|\.ts|node_modules|at /);
      expect(lines).toEqual([expect.stringContaining('delivery_methods')]);
      expect(lines[0]).toContain(body.request_id);
    } finally {
      await broken.close();
    }
  });

  test('half a request harms nobody', async () => {
    const socket = connect(Number(new URL(mandate.origin).port), '127.0.0.1');
    socket.write(
      'POST /api/v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"items"',
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await once(socket, 'close');
    expect((await mandate.call('GET', '/api/v1/products')).status).toBe(200);
  });
});

describe('/openapi.json and /openapi-3.0.json', () => {
  test('describe the API as it is served here', async () => {
    for (const [path, version] of [
      ['/openapi.json', '3.1.0'],
      ['/openapi-3.0.json', '3.0.3'],
    ]) {
      const response = await fetch(`${mandate.origin}${path}`);
      const document = JSON.parse(await response.text());
      expect([response.status, response.headers.get('access-control-allow-origin'), document.openapi]).toEqual([200, '*', version]);
      expect(document.servers).toEqual([{ url: mandate.origin, description: 'This installation' }]);
      expect(document.paths['/api/v1/orders/{order_id}'].get.security).toEqual([{ oauth2: ['orders.read'] }]);
      expect(document.components.schemas).toHaveProperty('OrderCreate');
    }
  });
});
