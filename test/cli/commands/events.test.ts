import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyWebhook } from '@mandate/client-sdk/webhooks';
import { startStubServer, type StubServer } from '../../sdk/stub-server.ts';
import { startWebhookReceiver } from '../../support/webhooks/webhook-receiver.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const event = (id: number, type = 'order.paid') => ({
  id,
  type,
  api_version: 'v1',
  timestamp: '2026-11-20T11:02:10.000Z',
  user_id: 7,
  subject: { type: 'order', id: 42, version: 2 },
  data: { object: { id: 42 } },
});

/** Starts a server with `count` events. The first five requests for events after the event `breaksAfter` fail with 503. */
async function startEventServer(count: number, breaksAfter?: number): Promise<StubServer & { readonly interrupted: AbortSignal }> {
  const drained = new AbortController();
  let failures = 0;
  const server = await startStubServer(({ url }) => {
    const query = new URL(url, 'http://localhost').searchParams;
    const after = Number(query.get('after') ?? 0);
    const limit = Math.min(2, Number(query.get('limit')));
    if (after === breaksAfter && (failures += 1) < 6) return { status: 503, body: { code: 'unavailable', status: 503 } };
    const all = Array.from({ length: count }, (_, index) => event(index + 1)).filter(({ id }) => id > after);
    const data = all.slice(0, limit);
    if (data.length === 0) drained.abort();
    return { status: 200, body: { data, has_more: all.length > limit, next_after: data.at(-1)?.id ?? count, latest_id: count } };
  });
  return Object.assign(server, { interrupted: drained.signal });
}

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mandate-listen-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const run = (server: StubServer & { readonly interrupted?: AbortSignal }, ...argv: string[]): Promise<CommandOutcome> =>
  runInProcess(argv, {
    env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret', MANDATE_CONFIG_DIR: home, TZ: 'UTC' },
    ...(server.interrupted && { interrupted: server.interrupted }),
  });

describe('events watch', () => {
  test('prints one line for each event, in order, after the given event', async () => {
    await using server = await startEventServer(5);
    const { exitCode, stdout } = await run(server, 'events', 'watch', '--after', 'evt_2');
    expect(exitCode).toBe(0);
    expect(stdout).toBe([3, 4, 5].map((id) => `11:02:10  evt_${id}  order.paid  order 42\n`).join(''));
  });

  test('starts with the next event by default', async () => {
    await using server = await startEventServer(5);
    expect(await run(server, 'events', 'watch')).toMatchObject({ exitCode: 0, stdout: '' });
    expect(server.seen.map(({ url }) => new URL(url, server.url).searchParams.get('after'))).toEqual([null, '5']);
  });

  test('reconnects after server errors and continues after the last event', async () => {
    await using server = await startEventServer(5, 2);
    const { exitCode, stdout, stderr } = await run(server, 'events', 'watch', '--after', '0', '--jsonl');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'The service is not responding. Retrying ...\nReconnected.\n' });
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
  });

  test.each([
    [['--type', 'order.payed'], 'Did you mean order.paid?'],
    [['--after', 'yesterday'], '--after must be an event ID'],
  ])('rejects %j before any request', async (flags, text) => {
    await using server = await startEventServer(1);
    const { exitCode, stderr } = await run(server, 'events', 'watch', ...flags);
    expect([exitCode, server.seen.length]).toEqual([2, 0]);
    expect(stderr).toContain(text);
  });
});

describe('webhooks listen', () => {
  test('forwards each event, signed with the secret that --print-secret prints', async () => {
    await using server = await startEventServer(3);
    const { stdout: secret } = await run(server, 'webhooks', 'listen', '--print-secret');
    expect((await run(server, 'webhooks', 'listen', '--print-secret')).stdout).toBe(secret);
    expect((await stat(join(home, 'webhook-secrets.json'))).mode % 0o1000).toBe(0o600);
    const receiver = await startWebhookReceiver();
    const words = ['webhooks', 'listen', '--after', '0', '--forward-to', receiver.url, '--headers', 'X-Mine: yes'];
    const { exitCode, stdout, stderr } = await run(server, ...words);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `Forwarding events to ${receiver.url}; press Ctrl-C to stop\nStopped after 3 events; resume with --after 3\n`,
    });
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}→ order\.paid {2}evt_1\n\d\d:\d\d:\d\d {2}← 204 {2}POST http:\S+ {2}evt_1 {2}\(\d+ ms\)\n/);
    const verified = receiver.deliveries.map(({ text, headers }) => verifyWebhook(text, headers, secret.trim()));
    expect(await Promise.all(verified)).toEqual([event(1), event(2), event(3)]);
    expect(receiver.deliveries[0]?.headers).toMatchObject({ 'x-mine': 'yes', 'webhook-id': 'evt_1', 'content-type': 'application/json' });
    await receiver.close();
  });

  test('reports refused connections and continues with the next event', async () => {
    await using server = await startEventServer(2);
    const { exitCode, stdout } = await run(server, 'webhooks', 'listen', '--after', '0', '--forward-to', 'http://127.0.0.1:1/', '--jsonl');
    expect(exitCode).toBe(0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => [line.event.id, line.forwarded.error])).toEqual([
      [1, 'connection refused'],
      [2, 'connection refused'],
    ]);
  });

  test('asks for confirmation before forwarding to another machine', async () => {
    await using server = await startEventServer(1);
    const { exitCode, stderr } = await run(server, 'webhooks', 'listen', '--forward-to', 'https://example.com/');
    expect([exitCode, server.seen.length]).toEqual([2, 0]);
    expect(stderr).toContain('-y');
  });

  test.each([
    ['--forward-to', 'ftp://localhost/'],
    ['--forward-to', 'localhost:3000'],
    ['--headers', 'no header'],
  ])('rejects %s %s', async (flag, value) => {
    await using server = await startEventServer(1);
    const words = ['webhooks', 'listen', ...(flag === '--headers' ? ['--forward-to', 'http://localhost:1'] : []), flag, value];
    expect((await run(server, ...words)).exitCode).toBe(2);
    expect(server.seen).toEqual([]);
  });
});
