import { describe, expect, test } from 'vitest';
import { startStubServer, type StubServer } from '../../sdk/stub-server.ts';
import { runInProcess } from '../run-command-line.ts';

const approval = (id: number, status: string) => ({
  id,
  status,
  application_name: 'My assistant\u001B[2J',
  total: 6000,
  currency: 'EUR',
  created_at: `2026-11-20T11:02:0${id}.000Z`,
  items: [{ product_id: 7, sku: 'HEART', name: 'White hanging heart', quantity: 2, total: 6000 }],
});

/** Starts a server with one pending approval. While the command is watching, this approval is decided, and a second one is requested. */
async function startApprovalServer(): Promise<StubServer & { readonly interrupted: AbortSignal }> {
  const drained = new AbortController();
  const changes = [approval(1, 'approved'), approval(2, 'pending')];
  const server = await startStubServer(({ method, url }) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    if (method === 'POST') return { status: 201, body: approval(1, pathname.endsWith('/decline') ? 'declined' : 'approved') };
    if (pathname === '/api/v1/approvals') return { body: { data: [approval(1, 'pending')], next_cursor: null } };
    if (pathname === '/api/v1/approvals/1') return { body: approval(1, 'pending') };
    const after = Number(searchParams.get('after') ?? 10);
    const events = changes.map((object, index) => ({
      id: 11 + index,
      type: `approval.${index === 0 ? 'approved' : 'requested'}`,
      timestamp: '2026-11-20T11:03:00.000Z',
      user_id: 7,
      subject: { type: 'approval', id: object.id, version: 1 },
      data: { object },
    }));
    const data = searchParams.get('after') === null ? [] : events.filter(({ id }) => id > after);
    if (searchParams.get('after') !== null && data.length === 0) drained.abort();
    return { body: { data, has_more: false, next_after: data.at(-1)?.id ?? after, latest_id: 10 } };
  });
  return Object.assign(server, { interrupted: drained.signal });
}

const run = (server: Pick<StubServer, 'url'>, argv: string[], options: Parameters<typeof runInProcess>[1] = {}) =>
  runInProcess(argv, { ...options, env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret', TZ: 'UTC' } });

describe('approvals watch', () => {
  test("prints the pending requests and then each change, without the application's control characters", async () => {
    await using server = await startApprovalServer();
    const { exitCode, stdout } = await run(server, ['approvals', 'watch'], { interrupted: server.interrupted });
    expect([exitCode, stdout.split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(/^11:02:01 {2}1 {2}pending {2}€60\.00 {2}My assistant/),
        expect.stringMatching(/^11:02:01 {2}1 {2}approved {2}€60\.00 {2}My assistant/),
        expect.stringMatching(/^11:02:02 {2}2 {2}pending {2}€60\.00 {2}My assistant/),
        '',
      ],
    ]);
    expect(stdout).not.toContain('\u001B');
  });

  test('prints JSON lines', async () => {
    await using server = await startApprovalServer();
    const { stdout } = await run(server, ['approvals', 'watch', '--jsonl'], { interrupted: server.interrupted });
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).status)).toEqual(['pending', 'approved', 'pending']);
  });
});

test('approvals list prints the requests', async () => {
  await using server = await startApprovalServer();
  const { stdout } = await run(server, ['approvals', 'list', '--status', 'pending'], { columns: 200 });
  expect(stdout).toMatch(/ID +STATUS +APPLICATION/i);
  expect(stdout).toMatch(/1 .*pending.* My assistant.*€60\.00/);
  expect(server.seen.at(-1)?.url).toContain('/api/v1/approvals?status=pending');
});

describe('deciding on the command line', () => {
  test('shows the order and asks for confirmation before approving', async () => {
    await using server = await startApprovalServer();
    const terminal = { stdinIsTTY: true, columns: 200 };
    const refused = await run(server, ['approvals', 'approve', '1'], { ...terminal, stdin: 'n\n' });
    expect(refused.stderr).toContain(': €60.00 (2 × White hanging heart)?');
    expect(server.seen.some(({ method }) => method === 'POST')).toBe(false);
    const approved = await run(server, ['approvals', 'approve', '1'], { ...terminal, stdin: 'y\n' });
    expect(approved.exitCode).toBe(0);
    expect(server.seen.at(-1)).toMatchObject({ method: 'POST', url: '/api/v1/approvals/1/approval' });
  });

  test('declines without asking for confirmation', async () => {
    await using server = await startApprovalServer();
    expect((await run(server, ['approvals', 'decline', '1'])).exitCode).toBe(0);
    expect(server.seen.at(-1)).toMatchObject({ method: 'POST', url: '/api/v1/approvals/1/decline' });
  });
});
