import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { AbortError, ApiError, ConnectionError, createClient, DecodeError, TimeoutError } from '@mandate/client-sdk';
import { createProblemResponse, startStubServer, type StubResponse } from '../stub-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const order = { items: [{ product_id: 1, quantity: 2 }], delivery: { method: 'pickup', recipient_name: 'Ann' } };

/** Sets the random back-off to 0. */
const withoutWaiting = (): void => void vi.spyOn(Math, 'random').mockReturnValue(0);
afterEach(() => void vi.restoreAllMocks());

describe('an error response of the API', () => {
  test('is an ApiError with all fields of the problem', async () => {
    const errors = [{ in: 'body', pointer: '#/items/0/quantity', code: 'out_of_range', detail: 'must be 1 or more' }];
    await using server = await startStubServer(() => createProblemResponse(400, 'invalid_request', { errors }));
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

  test('is returned by safe() as a value, distinguished by its code', async () => {
    await using server = await startStubServer(() => createProblemResponse(409, 'out_of_stock'));
    const result = await createClient({ baseUrl: server.url }).orders.create(order).safe();
    if (result.ok) throw new Error('the order should have been rejected');
    expect(result.error.code === 'out_of_stock' && result.error.status).toBe(409);
  });

  test('can have a code of a newer service', async () => {
    await using server = await startStubServer(() => createProblemResponse(418, 'teapot'));
    const result = await createClient({ baseUrl: server.url }).orders.get(1).safe();
    expect(result).toMatchObject({ ok: false, error: { code: 'teapot', status: 418 } });
  });

  test('safe() still throws programming errors', async () => {
    await expect(createClient({ baseUrl: 'http://127.0.0.1:9' }).orders.get('').safe()).rejects.toThrow(TypeError);
  });
});

describe('an invalid response', () => {
  test.each<[string, StubResponse]>([
    ['an HTML page', { status: 404, body: '<html>nope</html>', headers: { 'content-type': 'text/html' } }],
    ['HTML declared as JSON', { status: 200, body: '<html>hello</html>' }],
    ['JSON that is not a problem document', { status: 400, body: { message: 'no' } }],
  ])('%s is a DecodeError with status, headers and the beginning of the body', async (_, answer) => {
    await using server = await startStubServer(() => answer);
    const error = await createClient({ baseUrl: server.url })
      .orders.get(1)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DecodeError);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    expect(error).toMatchObject({ status: answer.status, text });
  });

  test('keeps only the beginning of the body', async () => {
    await using server = await startStubServer(() => ({ status: 404, body: 'x'.repeat(10_000) }));
    const error = await createClient({ baseUrl: server.url })
      .orders.get(1)
      .catch((reason: unknown) => reason);
    expect(error instanceof DecodeError && error.text).toHaveLength(2000);
  });
});

describe('no response', () => {
  test('a refused connection is a ConnectionError that names the origin and the reason', async () => {
    withoutWaiting();
    const error = await createClient({ baseUrl: 'http://127.0.0.1:9' })
      .orders.get(1)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toContain('http://127.0.0.1:9');
  });

  test.each(['before', 'within'] as const)('a connection lost %s the response is retried', async (cut) => {
    withoutWaiting();
    await using server = await startStubServer((_, count) => (count === 1 ? { body: { id: 1 }, cut } : { body: { id: 1 } }));
    expect(await createClient({ baseUrl: server.url }).orders.get(1)).toEqual({ id: 1 });
    expect(server.seen).toHaveLength(2);
  });

  test('a late response is a TimeoutError after the last attempt', async () => {
    withoutWaiting();
    await using server = await startStubServer(() => ({ body: {}, delayMs: 400 }));
    await expect(createClient({ baseUrl: server.url, timeoutMs: 40, maxRetries: 1 }).orders.get(1)).rejects.toBeInstanceOf(TimeoutError);
    expect(server.seen).toHaveLength(2);
  });

  test('a redirect is not followed, because it could send the token to another host', async () => {
    withoutWaiting();
    await using elsewhere = await startStubServer(() => ({ body: {} }));
    await using server = await startStubServer(() => ({ status: 307, headers: { location: elsewhere.url } }));
    await expect(createClient({ baseUrl: server.url, auth: 'secret' }).orders.get(1)).rejects.toMatchObject({
      name: 'DecodeError',
      status: 307,
    });
    expect([server.seen.length, elsewhere.seen]).toEqual([1, []]);
  });
});

describe('retries', () => {
  test.each([408, 429, 500, 502, 503, 504])('a read is retried twice after %i', async (status) => {
    withoutWaiting();
    await using server = await startStubServer(() => createProblemResponse(status, 'unavailable'));
    await expect(createClient({ baseUrl: server.url }).orders.get(1)).rejects.toMatchObject({ status });
    expect(server.seen).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 409, 413, 422, 501])('%i is not retried', async (status) => {
    await using server = await startStubServer(() => createProblemResponse(status, 'whatever'));
    await expect(createClient({ baseUrl: server.url, auth: 'fixed' }).orders.get(1)).rejects.toMatchObject({ status });
    expect(server.seen).toHaveLength(1);
  });

  test('an order is retried with the same idempotency key', async () => {
    withoutWaiting();
    await using server = await startStubServer((_, count) =>
      count < 3 ? { status: 502, body: '<html>' } : { status: 201, body: { id: 1 } },
    );
    await createClient({ baseUrl: server.url }).orders.create(order);
    expect(server.seen).toHaveLength(3);
    expect(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  test('a concurrent request with the same key is retried until it has finished', async () => {
    withoutWaiting();
    await using server = await startStubServer((_, count) =>
      count === 1 ? createProblemResponse(409, 'idempotency_in_progress') : { status: 201, body: { id: 1 } },
    );
    expect(await createClient({ baseUrl: server.url }).orders.create(order)).toEqual({ id: 1 });
  });

  test('a write that is not safe to repeat is never retried', async () => {
    await using server = await startStubServer(() => createProblemResponse(503, 'unavailable'));
    await expect(createClient({ baseUrl: server.url }).products.update(1, { name: 'New' })).rejects.toMatchObject({ status: 503 });
    expect(server.seen).toHaveLength(1);
  });

  test('the delay is Retry-After', async () => {
    await using server = await startStubServer((_, count) =>
      count === 1 ? { ...createProblemResponse(429, 'rate_limited'), headers: { 'retry-after': '1' } } : { body: { id: 1 } },
    );
    const begun = performance.now();
    await createClient({ baseUrl: server.url }).orders.get(1);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(990);
  });

  test('a Retry-After above the limit fails the call immediately, with the requested delay', async () => {
    await using server = await startStubServer(() => ({ ...createProblemResponse(503, 'unavailable'), headers: { 'retry-after': '61' } }));
    await expect(createClient({ baseUrl: server.url }).orders.get(1)).rejects.toMatchObject({ retryAfterSeconds: 61 });
    expect(server.seen).toHaveLength(1);
  });
});

describe('the signal of the caller', () => {
  test('aborts a call that waits for its response, and leaves no listener', async () => {
    await using server = await startStubServer(() => ({ body: {}, delayMs: 2000 }));
    const controller = new AbortController();
    const call = createClient({ baseUrl: server.url })
      .orders.get(1, { signal: controller.signal })
      .catch((reason: unknown) => reason);
    await waitUntil(() => server.seen.length === 1);
    controller.abort(new Error('enough'));
    const error = await call;
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ cause: { message: 'enough' } });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('aborts a call that waits for its next attempt, and leaves no listener', async () => {
    await using server = await startStubServer(() => ({ ...createProblemResponse(503, 'unavailable'), headers: { 'retry-after': '30' } }));
    const controller = new AbortController();
    const begun = performance.now();
    setTimeout(() => controller.abort(), 100);
    await expect(createClient({ baseUrl: server.url }).orders.get(1, { signal: controller.signal })).rejects.toBeInstanceOf(AbortError);
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('aborts a call that waits for its token', async () => {
    await using server = await startStubServer(() => ({ body: {} }));
    const auth = { accessToken: () => new Promise<string>(() => undefined) };
    const signal = AbortSignal.timeout(50);
    await expect(createClient({ baseUrl: server.url, auth }).orders.get(1, { signal })).rejects.toBeInstanceOf(AbortError);
    expect(server.seen).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('sends nothing if it is already aborted', async () => {
    await using server = await startStubServer(() => ({ body: {} }));
    await expect(createClient({ baseUrl: server.url }).orders.get(1, { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(AbortError);
    expect(server.seen).toEqual([]);
  });
});
