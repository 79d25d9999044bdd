import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { AbortError, ApiError, ConnectionError, createClient, DecodeError, TimeoutError } from '@mandate/client-sdk';
import { problem, stubServer, type StubAnswer } from '../stub-server.ts';

const order = { items: [{ product_id: 1, quantity: 2 }], delivery: { method: 'pickup', recipient_name: 'Ann' } };

/** Back-off takes no time: what is drawn for the jitter is 0. */
const withoutWaiting = (): void => void vi.spyOn(Math, 'random').mockReturnValue(0);
afterEach(() => void vi.restoreAllMocks());

describe('a failure the API tells', () => {
  test('is an ApiError with everything it says', async () => {
    const errors = [{ in: 'body', pointer: '#/items/0/quantity', code: 'out_of_range', detail: 'must be 1 or more' }];
    await using server = await stubServer(() => problem(400, 'invalid_request', { errors }));
    const error = await createClient({ baseUrl: server.url })
      .orders.create(order)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'invalid_request',
      status: 400,
      title: 'Title of invalid_request',
      detail: 'Detail of invalid_request',
      requestId: 'req_stub',
      errors,
    });
    expect(server.seen).toHaveLength(1);
  });

  test('is a value with safe(), told apart by its code', async () => {
    await using server = await stubServer(() => problem(409, 'out_of_stock'));
    const result = await createClient({ baseUrl: server.url }).orders.create(order).safe();
    if (result.ok) throw new Error('the order was refused');
    expect(result.error.code === 'out_of_stock' && result.error.status).toBe(409);
  });

  test('does not crash on a code of a newer service', async () => {
    await using server = await stubServer(() => problem(418, 'teapot'));
    const result = await createClient({ baseUrl: server.url }).orders.get(1).safe();
    expect(result).toMatchObject({ ok: false, error: { code: 'teapot', status: 418 } });
  });

  test('a mistake in the program stays an exception with safe()', async () => {
    await expect(createClient({ baseUrl: 'http://127.0.0.1:9' }).orders.get('').safe()).rejects.toThrow(TypeError);
  });
});

describe('an answer that is not the API’s', () => {
  test.each<[string, StubAnswer]>([
    ['an HTML page', { status: 404, body: '<html>nope</html>', headers: { 'content-type': 'text/html' } }],
    ['HTML called JSON', { status: 200, body: '<html>hello</html>' }],
    ['JSON that is no problem document', { status: 400, body: { message: 'no' } }],
  ])('%s is a DecodeError that keeps status, headers and how it begins', async (_, answer) => {
    await using server = await stubServer(() => answer);
    const error = await createClient({ baseUrl: server.url })
      .orders.get(1)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DecodeError);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    expect(error).toMatchObject({ status: answer.status, text });
  });

  test('keeps no more than the beginning', async () => {
    await using server = await stubServer(() => ({ status: 404, body: 'x'.repeat(10_000) }));
    const error = await createClient({ baseUrl: server.url })
      .orders.get(1)
      .catch((reason: unknown) => reason);
    expect(error instanceof DecodeError && error.text).toHaveLength(2000);
  });
});

describe('no answer', () => {
  test('a refused connection is a ConnectionError that names the place and the reason', async () => {
    withoutWaiting();
    const error = await createClient({ baseUrl: 'http://127.0.0.1:9' })
      .orders.get(1)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toContain('http://127.0.0.1:9');
  });

  test.each(['before', 'within'] as const)('a connection cut %s the answer is tried again', async (cut) => {
    withoutWaiting();
    await using server = await stubServer((_, count) => (count === 1 ? { body: { id: 1 }, cut } : { body: { id: 1 } }));
    expect(await createClient({ baseUrl: server.url }).orders.get(1)).toEqual({ id: 1 });
    expect(server.seen).toHaveLength(2);
  });

  test('too late an answer is a TimeoutError after the last try', async () => {
    withoutWaiting();
    await using server = await stubServer(() => ({ body: {}, delayMs: 400 }));
    await expect(createClient({ baseUrl: server.url, timeoutMs: 40, maxRetries: 1 }).orders.get(1)).rejects.toBeInstanceOf(TimeoutError);
    expect(server.seen).toHaveLength(2);
  });

  test('a redirect is not followed: it could carry the token elsewhere', async () => {
    withoutWaiting();
    await using elsewhere = await stubServer(() => ({ body: {} }));
    await using server = await stubServer(() => ({ status: 307, headers: { location: elsewhere.url } }));
    await expect(createClient({ baseUrl: server.url, auth: 'secret' }).orders.get(1)).rejects.toBeInstanceOf(ConnectionError);
    expect(elsewhere.seen).toEqual([]);
  });
});

describe('trying again', () => {
  test.each([408, 429, 500, 502, 503, 504])('%i is tried twice more for a read', async (status) => {
    withoutWaiting();
    await using server = await stubServer(() => problem(status, 'unavailable'));
    await expect(createClient({ baseUrl: server.url }).orders.get(1)).rejects.toMatchObject({ status });
    expect(server.seen).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 409, 413, 422, 501])('%i is not tried again', async (status) => {
    await using server = await stubServer(() => problem(status, 'whatever'));
    await expect(createClient({ baseUrl: server.url, auth: 'fixed' }).orders.get(1)).rejects.toMatchObject({ status });
    expect(server.seen).toHaveLength(1);
  });

  test('an order is tried again with the same idempotency key', async () => {
    withoutWaiting();
    await using server = await stubServer((_, count) => (count < 3 ? { status: 502, body: '<html>' } : { status: 201, body: { id: 1 } }));
    await createClient({ baseUrl: server.url }).orders.create(order);
    expect(server.seen).toHaveLength(3);
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  test('a request under way elsewhere with the same key is waited for', async () => {
    withoutWaiting();
    await using server = await stubServer((_, count) =>
      count === 1 ? problem(409, 'idempotency_in_progress') : { status: 201, body: { id: 1 } },
    );
    expect(await createClient({ baseUrl: server.url }).orders.create(order)).toEqual({ id: 1 });
  });

  test('a change that cannot be repeated without harm is never tried again', async () => {
    await using server = await stubServer(() => problem(503, 'unavailable'));
    await expect(createClient({ baseUrl: server.url }).products.update(1, { name: 'New' })).rejects.toMatchObject({ status: 503 });
    expect(server.seen).toHaveLength(1);
  });

  test('Retry-After is waited for', async () => {
    await using server = await stubServer((_, count) =>
      count === 1 ? { ...problem(429, 'rate_limited'), headers: { 'retry-after': '1' } } : { body: { id: 1 } },
    );
    const begun = performance.now();
    await createClient({ baseUrl: server.url }).orders.get(1);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(990);
  });

  test('too long a Retry-After ends the call at once and says how long', async () => {
    await using server = await stubServer(() => ({ ...problem(503, 'unavailable'), headers: { 'retry-after': '61' } }));
    await expect(createClient({ baseUrl: server.url }).orders.get(1)).rejects.toMatchObject({ retryAfterSeconds: 61 });
    expect(server.seen).toHaveLength(1);
  });
});

describe('the caller’s signal', () => {
  test('ends a call that waits for its answer, and leaves no listener', async () => {
    await using server = await stubServer(() => ({ body: {}, delayMs: 2000 }));
    const controller = new AbortController();
    const call = createClient({ baseUrl: server.url }).orders.get(1, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    const error = await call.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ cause: { message: 'enough' } });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('ends a call that waits for its next try, and leaves no listener', async () => {
    await using server = await stubServer(() => ({ ...problem(503, 'unavailable'), headers: { 'retry-after': '30' } }));
    const controller = new AbortController();
    const begun = performance.now();
    setTimeout(() => controller.abort(), 100);
    await expect(createClient({ baseUrl: server.url }).orders.get(1, { signal: controller.signal })).rejects.toBeInstanceOf(AbortError);
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('ends a call that waits for its token', async () => {
    await using server = await stubServer(() => ({ body: {} }));
    const auth = { accessToken: () => new Promise<string>(() => undefined) };
    const signal = AbortSignal.timeout(50);
    await expect(createClient({ baseUrl: server.url, auth }).orders.get(1, { signal })).rejects.toBeInstanceOf(AbortError);
    expect(server.seen).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('already ended: nothing is sent', async () => {
    await using server = await stubServer(() => ({ body: {} }));
    await expect(createClient({ baseUrl: server.url }).orders.get(1, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(AbortError);
    expect(server.seen).toEqual([]);
  });
});
