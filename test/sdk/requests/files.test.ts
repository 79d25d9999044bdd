import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiError, ConnectionError, createClient, TimeoutError, type FileContent } from '@mandate/client-sdk';
import { createProblemResponse, startStubServer } from '../stub-server.ts';
import { closeServer, listenOnLoopback } from '../../support/network/loopback-server.ts';

const csv = `sku,name\n${'A-1,Heart é\n'.repeat(20_000)}`;
const bytes = Buffer.byteLength(csv);
let directory: string;
let path: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-upload-'));
  path = join(directory, 'products.csv');
  await writeFile(path, csv);
});
afterAll(() => rm(directory, { recursive: true }));

const accepted = { status: 202, body: { id: 7, status: 'queued' } };

describe('an uploaded file', () => {
  const contents: Record<string, () => FileContent | Promise<FileContent>> = {
    text: () => csv,
    bytes: () => new TextEncoder().encode(csv),
    'a Blob of a file': () => openAsBlob(path),
    'a stream': () => new Blob([csv]).stream(),
    'an iterable': async function* pieces() {
      yield new TextEncoder().encode(csv);
    },
    'a function that opens it': () => () => new Blob([csv]).stream(),
  };
  test.each(Object.keys(contents))('arrives byte for byte, with progress, as %s', async (name) => {
    await using server = await startStubServer(() => accepted);
    const content = await (name === 'an iterable' ? contents[name]?.() : contents[name]?.());
    if (content === undefined) throw new Error('there is no such content');
    const seen: number[] = [];
    const client = createClient({ baseUrl: server.url, auth: 'secret' });
    const task = await client.productImports.create(content, { dry_run: 'true' }, { onProgress: (sent) => seen.push(sent) });
    expect(task.id).toBe(7);
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/product-imports?dry_run=true',
      body: csv,
      headers: { 'content-type': 'text/csv', authorization: 'Bearer secret', 'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
    expect(seen.at(-1)).toBe(bytes);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  test('has the declared media type', async () => {
    await using server = await startStubServer(() => accepted);
    const client = createClient({ baseUrl: server.url });
    await client.orderImports.create('{}', { source: 'shop' }, { contentType: 'application/x-ndjson' });
    await client.orderImports.create(new Blob(['{}'], { type: 'application/x-ndjson' }), { source: 'shop' });
    expect(server.seen.map(({ headers }) => headers['content-type'])).toEqual(['application/x-ndjson', 'application/x-ndjson']);
  });

  test('is sent again from the beginning with the same key if that is possible', async () => {
    await using server = await startStubServer((_, count) => (count === 1 ? createProblemResponse(503, 'unavailable') : accepted));
    await createClient({ baseUrl: server.url }).productImports.create(() => new Blob([csv]).stream());
    expect(server.seen.map(({ body }) => body)).toEqual([csv, csv]);
    expect(server.seen[0]?.headers['idempotency-key']).toBe(server.seen[1]?.headers['idempotency-key']);
  });

  test('is not sent again if it has been read partially', async () => {
    await using server = await startStubServer(() => createProblemResponse(503, 'unavailable'));
    const sent = createClient({ baseUrl: server.url }).productImports.create(new Blob([csv]).stream());
    await expect(sent).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.seen).toHaveLength(1);
  });

  test('fails with the problem of the service if the token is rejected', async () => {
    await using server = await startStubServer(() => createProblemResponse(401, 'expired_token'));
    const sent = createClient({ baseUrl: server.url, auth: 'old' }).productImports.create(new Blob([csv]).stream());
    await expect(sent).rejects.toMatchObject({ status: 401, code: 'expired_token' });
  });

  test('does not time out while data is transferred', async () => {
    await using server = await startStubServer(() => accepted);
    async function* slowly() {
      for (const piece of ['a\n', 'b\n', 'c\n', 'd\n']) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        yield new TextEncoder().encode(piece);
      }
    }
    await createClient({ baseUrl: server.url, timeoutMs: 150 }).productImports.create(slowly());
    expect(server.seen[0]?.body).toBe('a\nb\nc\nd\n');
  });
});

/** Starts a server that sends the headers and the first half of a file, and then runs the given action. */
async function halfAFile(then: 'nothing' | 'cut'): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_, res) => {
    res.writeHead(200, { 'content-type': 'text/csv', 'content-length': String(bytes) });
    res.write(csv.slice(0, 1000), () => (then === 'cut' ? setTimeout(() => res.destroy(), 50) : undefined));
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
    },
  };
}

describe('a downloaded file', () => {
  const headers = { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="order-export-7.csv"' };

  test('is returned as a stream with its name', async () => {
    await using server = await startStubServer(() => ({ body: csv, headers: { ...headers, 'content-length': String(bytes) } }));
    const file = await createClient({ baseUrl: server.url }).tasks.result(7);
    expect(file).toMatchObject({ type: 'text/csv', name: 'order-export-7.csv', bytes });
    expect(await new Response(file.stream).text()).toBe(csv);
  });

  test('fails like any call if it does not exist', async () => {
    await using server = await startStubServer(() => createProblemResponse(409, 'task_not_finished'));
    const result = await createClient({ baseUrl: server.url }).tasks.result(7).safe();
    expect(result).toMatchObject({ ok: false, error: { code: 'task_not_finished', status: 409 } });
    expect(!result.ok && result.error instanceof ApiError).toBe(true);
  });

  test('never ends without an error if the connection breaks', async () => {
    await using server = await halfAFile('cut');
    const file = await createClient({ baseUrl: server.url }).tasks.result(7);
    await expect(new Response(file.stream).text()).rejects.toBeInstanceOf(ConnectionError);
  });

  test('times out if no data arrives, but not while the reader pauses', async () => {
    await using server = await halfAFile('nothing');
    const file = await createClient({ baseUrl: server.url, timeoutMs: 150 }).tasks.result(7);
    const reader = file.stream.getReader();
    expect((await reader.read()).value).toHaveLength(Buffer.byteLength(csv.slice(0, 1000)));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await expect(reader.read()).rejects.toBeInstanceOf(TimeoutError);
  });

  test('stops when the stream is canceled', async () => {
    await using server = await halfAFile('nothing');
    const aborted = new AbortController();
    const file = await createClient({ baseUrl: server.url }).tasks.result(7, { signal: aborted.signal });
    const reader = file.stream.getReader();
    await reader.read();
    const nextRead = reader.read();
    aborted.abort();
    await expect(nextRead).rejects.toMatchObject({ code: 'aborted' });
  });
});
