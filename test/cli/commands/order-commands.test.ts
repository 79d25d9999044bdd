import { describe, expect, test } from 'vitest';
import { startStubServer, type StubResponse, type StubServer } from '../../sdk/stub-server.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const env = ({ url }: StubServer) => ({ MANDATE_API_URL: url, MANDATE_TOKEN: 'secret', TZ: 'UTC' });
const order = (status: string, version = 1, payment = 'unpaid') => ({
  id: 42,
  status,
  payment_status: payment,
  total: 4250,
  currency: 'EUR',
  version,
});
const payment = (status: string, more: Record<string, unknown> = {}) => ({ id: 9, order_id: 42, status, next_action: null, ...more });
const posts = ({ seen }: StubServer) => seen.filter(({ method }) => method === 'POST');

describe('the confirmation of irreversible commands', () => {
  const shop = (): Promise<StubServer> =>
    startStubServer(({ method }) => ({ status: method === 'POST' ? 201 : 200, body: order(method === 'POST' ? 'canceled' : 'paid') }));

  test.each([
    ['y\n', 0, 1],
    ['YES\n', 0, 1],
    ['n\n', 3, 0],
    ['\n', 3, 0],
    ['', 3, 0],
    ['yesterday\n', 3, 0],
  ])('exits for the input %j with code %i', async (stdin, exitCode, sent) => {
    await using server = await shop();
    const outcome = await runInProcess(['orders', 'cancel', '42', '--get', 'status'], { env: env(server), stdin, stdinIsTTY: true });
    expect(outcome.exitCode).toBe(exitCode);
    expect(outcome.stderr).toContain('Cancel order 42 (€42.50, paid)? [y/N] ');
    expect(posts(server)).toHaveLength(sent);
  });

  test.each([
    [['orders', 'cancel', '42']],
    [['orders', 'pay', '42']],
    [['users', 'close', '42']],
    [['products', 'delete', '42']],
    [['delivery-methods', 'delete', 'drone']],
  ])('is replaced by -y in %j if prompts are disabled', async (argv) => {
    await using server = await shop();
    const outcome = await runInProcess(argv, { env: env(server), stdin: 'y\n' });
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('hint: Confirm in advance with: -y') });
    expect(server.seen).toEqual([]);
    await runInProcess([...argv, '-y'], { env: env(server) });
    expect(server.seen.map(({ method }) => method)).toEqual([expect.stringMatching(/POST|DELETE/)]);
  });
});

describe('orders pay', () => {
  const pay = (server: StubServer, ...more: string[]): Promise<CommandOutcome> =>
    runInProcess(['orders', 'pay', '42', '-y', '--get', 'status', ...more], { env: env(server) });

  test('creates a payment with a generated idempotency key', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: payment('pending') }));
    expect(await pay(server, '--provider', 'test', '--method-token', 'test_ok')).toEqual({ exitCode: 0, stdout: 'pending\n', stderr: '' });
    expect(server.seen[0]).toMatchObject({ url: '/api/v1/orders/42/payments', body: '{"provider":"test","method_token":"test_ok"}' });
    expect(server.seen[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('waits until the payment succeeds with --wait, and prints the URL where the customer continues', async () => {
    const action = { type: 'redirect', url: 'https://pay.example/3ds', client_secret: null };
    await using server = await startStubServer(({ method }, count) =>
      method === 'POST'
        ? { status: 201, body: payment('requires_action', { next_action: action }) }
        : { body: payment(count < 4 ? 'processing' : 'succeeded') },
    );
    const { exitCode, stdout, stderr } = await pay(server, '--wait', '--interval', '10ms');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'succeeded\n' });
    expect(stderr.split('\n')).toEqual([
      'Continue the payment at this URL:',
      'https://pay.example/3ds',
      'payment 9 requires_action',
      'payment 9 processing',
      'payment 9 succeeded',
      '',
    ]);
  });

  test('exits with code 12 if the payment is declined', async () => {
    const failure = { failure_code: 'card_declined', failure_message: 'The card was declined.' };
    await using server = await startStubServer(() => ({ status: 201, body: payment('failed', failure) }));
    expect(await pay(server)).toMatchObject({ exitCode: 12, stderr: 'error: The card was declined.\n' });
  });

  test('exits with code 13 when --max-wait elapses', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: payment('processing') }));
    expect((await pay(server, '--wait', '--interval', '10ms', '--max-wait', '50ms')).exitCode).toBe(13);
  });

  test('rejects an unknown provider', async () => {
    expect(await runInProcess(['orders', 'pay', '42', '--provider', 'cash', '-y'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--provider: must be one of manual, test, stripe'),
    });
  });
});

describe('orders watch', () => {
  const time = '\\d\\d:\\d\\d:\\d\\d';
  const versions = (...orders: ReturnType<typeof order>[]): Promise<StubServer> =>
    startStubServer(({ headers }, count): StubResponse => {
      const body = orders[Math.min(count, orders.length) - 1];
      const etag = `"${body?.version}"`;
      return headers['if-none-match'] === etag ? { status: 304, headers: { etag } } : { body, headers: { etag } };
    });
  const watch = (server: StubServer, ...argv: string[]): Promise<CommandOutcome> =>
    runInProcess(['orders', 'watch', '42', '--interval', '10ms', ...argv], { env: env(server) });

  test('prints each change once and exits when the status is reached', async () => {
    await using server = await versions(order('pending'), order('pending'), order('pending', 2), order('paid', 3, 'paid'));
    const { exitCode, stdout } = await watch(server, '--until', 'paid');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^${time}  42  pending, unpaid\n${time}  42  changed\n${time}  42  pending → paid, unpaid → paid\n$`),
    );
    expect(server.seen[1]?.headers['if-none-match']).toBe('"1"');
  });

  test.each([
    ['paid', 'shipped', 0],
    ['canceled', 'canceled', 0],
    ['paid', 'canceled', 12],
    ['canceled', 'delivered', 12],
    ['shipped', 'paid', 13],
  ])('waiting until %s for an order that is %s exits with code %i', async (until, status, exitCode) => {
    await using server = await versions(order(status));
    expect((await watch(server, '--until', until, '--max-wait', '50ms')).exitCode).toBe(exitCode);
  });

  test('exits without --until with code 0, on Ctrl-C and when --max-wait elapses', async () => {
    await using server = await versions(order('pending'));
    expect((await watch(server, '--max-wait', '50ms')).exitCode).toBe(0);
    const interrupted = AbortSignal.timeout(100);
    expect((await runInProcess(['orders', 'watch', '42'], { env: env(server), interrupted })).exitCode).toBe(0);
  });

  test('prints the whole order for each change with --jsonl', async () => {
    await using server = await versions(order('pending'), order('paid', 2));
    const { stdout } = await watch(server, '--until', 'paid', '--jsonl');
    expect(stdout).toBe(`${JSON.stringify(order('pending'))}\n${JSON.stringify(order('paid', 2))}\n`);
  });

  test('prints only changes when it watches all orders', async () => {
    await using server = await startStubServer((_, count) => ({
      body: { data: [order(count < 3 ? 'pending' : 'paid', count < 3 ? 1 : 2)], has_more: false, next_cursor: null },
    }));
    const { stdout } = await runInProcess(['orders', 'watch', '--interval', '10ms', '--max-wait', '200ms'], { env: env(server) });
    expect(stdout).toMatch(new RegExp(`^${time}  42  pending → paid\n$`));
  });

  test.each([
    [['orders', 'watch', '--until', 'paid'], '--until requires an order ID'],
    [['orders', 'watch', '42', '--until', 'lost'], '--until must be paid'],
  ])('rejects %j', async (argv, reason) => {
    expect(await runInProcess(argv)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(reason) });
  });
});

describe('orders export', () => {
  test('starts the task with --no-wait and prints how to get the file', async () => {
    const task = { id: 3, type: 'order_export', status: 'queued', progress: { processed: 0, total: null }, finished_at: null };
    await using server = await startStubServer(() => ({ status: 202, body: task }));
    const { exitCode, stdout, stderr } = await runInProcess(['orders', 'export', '--no-wait', '--json'], { env: env(server) });
    expect({ exitCode, id: JSON.parse(stdout).id }).toEqual({ exitCode: 0, id: 3 });
    expect(stderr).toContain('mandate tasks wait 3');
    expect(server.seen.map(({ method }) => method)).toEqual(['POST']);
  });
});
