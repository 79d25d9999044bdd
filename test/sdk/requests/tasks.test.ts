import { describe, expect, test } from 'vitest';
import { createClient, WaitTimeoutError } from '@mandate/client-sdk';
import { createClient as createClientV2 } from '@mandate/client-sdk/v2';
import { createProblemResponse, startStubServer, type StubResponse } from '../stub-server.ts';

const running = (processed: number): StubResponse => ({
  body: { id: 7, status: 'running', progress: { processed, total: 100 }, finished_at: null },
});
const ended = (status: string): StubResponse => ({
  body: { id: 7, status, progress: { processed: 100, total: 100 }, finished_at: '2026-11-20T12:00:00.000Z' },
});

describe('waiting for a task', () => {
  test.each(['succeeded', 'failed', 'canceled'])('ends when it has %s, after reporting its progress', async (status) => {
    await using server = await startStubServer((_, count) => (count < 3 ? running(count * 40) : ended(status)));
    const seen: number[] = [];
    const task = await createClient({ baseUrl: server.url }).tasks.wait(7, {
      intervalMs: 5,
      onProgress: ({ progress }) => seen.push(progress.processed),
    });
    expect(task.status).toBe(status);
    expect(seen).toEqual([40, 80, 100]);
  });

  test('polls at the interval that the service requests', async () => {
    await using server = await startStubServer((_, count) =>
      count === 1 ? { ...running(1), headers: { 'retry-after': '1' } } : ended('succeeded'),
    );
    const begun = Date.now();
    await createClient({ baseUrl: server.url }).tasks.wait(7);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(950);
  });

  test.each([
    ['v1', createClient],
    ['v2', createClientV2],
  ])('polls the task in version %s of the API', async (version, create) => {
    await using server = await startStubServer(() => ended('succeeded'));
    const operations: (string | undefined)[] = [];
    const client = create({ baseUrl: server.url }).use((request, next) => {
      operations.push(request.operation);
      return next(request);
    });
    await client.tasks.wait(7);
    expect(server.seen.map(({ url }) => url)).toEqual([`/api/${version}/tasks/7`]);
    expect(operations).toEqual(['tasks.get']);
  });

  test('tolerates a short outage of the service', async () => {
    await using server = await startStubServer((_, count): StubResponse => {
      if (count < 3) return { cut: 'before' };
      return count === 3 ? createProblemResponse(503, 'unavailable') : ended('succeeded');
    });
    expect(await createClient({ baseUrl: server.url, maxRetries: 0 }).tasks.wait(7)).toMatchObject({ status: 'succeeded' });
  });

  test('fails immediately if the task does not exist', async () => {
    await using server = await startStubServer(() => createProblemResponse(404, 'not_found'));
    await expect(createClient({ baseUrl: server.url }).tasks.wait(7)).rejects.toMatchObject({ code: 'not_found' });
    expect(server.seen).toHaveLength(1);
  });

  test('fails after the maximum wait, with the last known state of the task', async () => {
    await using server = await startStubServer(() => running(40));
    const waiting = createClient({ baseUrl: server.url }).tasks.wait(7, { maxWaitMs: 100, intervalMs: 20 });
    const error: unknown = await waiting.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ code: 'wait_timeout', task: { progress: { processed: 40 } } });
  });

  test('fails when the caller aborts', async () => {
    await using server = await startStubServer(() => running(40));
    const waiting = createClient({ baseUrl: server.url }).tasks.wait(7, { signal: AbortSignal.timeout(50) });
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('conditional requests', () => {
  test('reading an unchanged resource returns undefined', async () => {
    await using server = await startStubServer(({ headers }) =>
      headers['if-none-match'] === '"v1"' ? { status: 304 } : { body: { id: 7 } },
    );
    const client = createClient({ baseUrl: server.url });
    expect(await client.orders.get(7, { ifNoneMatch: '"v1"' })).toBeUndefined();
    expect(await client.orders.get(7, { ifNoneMatch: '"v0"' })).toEqual({ id: 7 });
  });

  test('an update applies to the version in If-Match', async () => {
    await using server = await startStubServer(() => createProblemResponse(412, 'precondition_failed'));
    const result = await createClient({ baseUrl: server.url }).orders.update(7, { note: null }, { ifMatch: '"v1"' }).safe();
    expect(result).toMatchObject({ ok: false, error: { code: 'precondition_failed' } });
    expect(server.seen[0]?.headers['if-match']).toBe('"v1"');
  });

  test('a response without content returns undefined', async () => {
    await using server = await startStubServer(() => ({ status: 204 }));
    expect(await createClient({ baseUrl: server.url }).products.delete(7)).toBeUndefined();
  });
});
