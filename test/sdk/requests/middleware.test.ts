import { afterEach, describe, expect, test, vi } from 'vitest';
import { createClient } from '@mandate/client-sdk';
import { createProblemResponse, startStubServer } from '../stub-server.ts';

afterEach(() => void vi.restoreAllMocks());

describe('middleware', () => {
  test('the middleware added first sees a request first and its response last', async () => {
    await using server = await startStubServer(() => ({ body: { id: 1 } }));
    const seen: string[] = [];
    const client = createClient({ baseUrl: server.url });
    for (const name of ['outer', 'inner']) {
      client.use(async (request, next) => {
        seen.push(`${name} > ${request.operation}`);
        const response = await next(request);
        seen.push(`${name} < ${response.status}`);
        return response;
      });
    }
    await client.orders.get(1);
    expect(seen).toEqual(['outer > orders.get', 'inner > orders.get', 'inner < 200', 'outer < 200']);
  });

  test('wraps every attempt, each with its own headers', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    await using server = await startStubServer((_, count) => (count < 3 ? createProblemResponse(503, 'unavailable') : { body: { id: 1 } }));
    const client = createClient({ baseUrl: server.url, auth: 'a token' }).use((request, next) => {
      request.init.headers.append('x-try', String(request.attempt));
      return next(request);
    });
    await client.orders.get(1);
    expect(server.seen.map(({ headers }) => headers['x-try'])).toEqual(['0', '1', '2']);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer a token'));
  });

  test('can respond without sending the request', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9' }).use(async () => Response.json({ id: 7 }));
    expect(await client.orders.get(7)).toEqual({ id: 7 });
  });

  test('its errors are passed to the caller unchanged, and nothing is sent', async () => {
    await using server = await startStubServer(() => ({ body: { id: 1 } }));
    const fault = new Error('mine');
    const client = createClient({ baseUrl: server.url }).use(() => Promise.reject(fault));
    await expect(client.orders.get(1)).rejects.toBe(fault);
    await expect(client.orders.get(1).safe()).rejects.toBe(fault);
    expect(server.seen).toEqual([]);
  });
});

describe('the deadline of a call', () => {
  test('aborts an attempt', async () => {
    await using server = await startStubServer(() => ({ body: {}, delayMs: 5000 }));
    const failed = createClient({ baseUrl: server.url }).orders.get(1, { deadlineMs: 50 });
    await expect(failed).rejects.toMatchObject({ code: 'timeout', message: expect.stringContaining('before the deadline') });
    expect(server.seen).toHaveLength(1);
  });

  test('fails the call immediately if the next attempt would start too late', async () => {
    await using server = await startStubServer(() => ({ ...createProblemResponse(503, 'unavailable'), headers: { 'retry-after': '50' } }));
    const failed = createClient({ baseUrl: server.url, deadlineMs: 40_000 }).orders.get(1);
    await expect(failed).rejects.toMatchObject({ status: 503, retryAfterSeconds: 50 });
    expect(server.seen).toHaveLength(1);
  });

  test('stops waiting for a token', async () => {
    const auth = { accessToken: () => new Promise<string>(() => undefined) };
    const failed = createClient({ baseUrl: 'http://127.0.0.1:9', auth, deadlineMs: 50 }).orders.get(1);
    await expect(failed).rejects.toMatchObject({ code: 'timeout' });
  });
});

test('retries stop when a service remains unavailable', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  let up = false;
  await using server = await startStubServer(() => (up ? { body: { id: 1 } } : createProblemResponse(503, 'unavailable')));
  const client = createClient({ baseUrl: server.url });
  for (let call = 0; call < 60; call += 1) await client.orders.get(1).safe();
  expect(server.seen).toHaveLength(60 + 100);
  up = true;
  for (let call = 0; call < 10; call += 1) await client.orders.get(1);
  up = false;
  server.seen.length = 0;
  await client.orders.get(1).safe();
  expect(server.seen).toHaveLength(3);
});
