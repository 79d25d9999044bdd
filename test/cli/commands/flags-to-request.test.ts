import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { orderCreateSchema } from '../../../contract/resources/orders/order-create-schema.ts';
import { createProblemResponse, startStubServer } from '../../sdk/stub-server.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const pickup = ['--delivery.method', 'pickup', '--delivery.recipient-name', 'Ann Lee'];
const printedRequest = async (...argv: string[]): Promise<unknown> => JSON.parse((await runInProcess([...argv, '--print-request'])).stdout);

describe('flags are converted to the request', () => {
  test('for items, nested fields and pairs', async () => {
    const argv = [
      'orders',
      'create',
      '--item',
      'product_id=1,quantity=2',
      '--item',
      '{"product_id":3,"quantity":1}',
      ...pickup,
      '--metadata',
      'gift=yes, please',
      '--metadata',
      'shelf=7',
      '--note',
      '7',
      '--idempotency-key',
      'k1',
    ];
    const body = {
      items: [
        { product_id: 1, quantity: 2 },
        { product_id: 3, quantity: 1 },
      ],
      delivery: { method: 'pickup', recipient_name: 'Ann Lee' },
      metadata: { gift: 'yes, please', shelf: '7' },
      note: '7',
    };
    expect(await printedRequest(...argv)).toEqual({
      method: 'POST',
      path: '/api/v1/orders',
      query: {},
      body,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k1' },
    });
    expect(orderCreateSchema.parse(body)).toEqual(body);
  });

  test('for objects with any members', async () => {
    const application = ['applications', 'create', '--name', 'Tracker', '--type', 'confidential', '--scopes', 'orders.read'];
    const keys = [
      { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'a,b' },
      { kty: 'OKP', crv: 'Ed25519', x: 'x' },
    ];
    const flags = keys.flatMap((key) => ['--jwks.key', JSON.stringify(key)]);
    const method = ['--grant-types', 'client_credentials', '--token-endpoint-auth-method', 'private_key_jwt'];
    expect(await printedRequest(...application, ...method, ...flags)).toMatchObject({
      body: { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys } },
    });
  });

  test('except for an age before year 0, which is sent unchanged so that the service rejects it', async () => {
    const sent = await printedRequest('orders', 'list', '--created-at-gte', '999999d', '--created-at-lt', '700000d');
    expect(sent).toMatchObject({ query: { created_at_gte: '999999d', created_at_lt: expect.stringMatching(/^0\d{3}-.*Z$/) } });
  });

  test('for lists, dates and ages', async () => {
    const { query }: { query: Record<string, string> } = JSON.parse(
      (
        await runInProcess([
          'orders',
          'list',
          '--status',
          'paid',
          '--status',
          'shipped,pending',
          '--created-at-gte',
          '7d',
          '--created-at-lt',
          '2026-11-01',
          '--print-request',
        ])
      ).stdout,
    );
    expect(query).toMatchObject({ status: ['paid', 'shipped', 'pending'], created_at_lt: '2026-11-01T00:00:00.000Z' });
    expect(Math.abs(Date.parse(query['created_at_gte'] ?? '') - (Date.now() - 7 * 86_400_000))).toBeLessThan(60_000);
  });

  test('for negative numbers and null', async () => {
    expect(await printedRequest('products', 'adjust-stock', '5', '--delta', '-5', '--reason', 'damaged')).toMatchObject({
      path: '/api/v1/products/5/stock-adjustments',
      body: { delta: -5 },
    });
    expect(
      await printedRequest(
        'products',
        'create',
        '--sku',
        'A',
        '--name',
        'A',
        '--category',
        'a',
        '--price',
        '1',
        '--currency',
        'EUR',
        '--stock',
        'null',
      ),
    ).toMatchObject({ body: { stock: null } });
  });

  test('--print-request prints the request that is sent', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: { id: 1 } }));
    const argv = ['orders', 'create', '--item', 'product_id=1,quantity=2', ...pickup, '--idempotency-key', 'k1'];
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const shown: { method: string; path: string; body: unknown } = JSON.parse(
      (await runInProcess([...argv, '--print-request'], { env })).stdout,
    );
    expect(server.seen).toEqual([]);
    expect((await runInProcess(argv, { env })).exitCode).toBe(0);
    const [sent] = server.seen;
    expect({ method: sent?.method, path: sent?.url, body: JSON.parse(sent?.body ?? '') }).toEqual({
      method: shown.method,
      path: shown.path,
      body: shown.body,
    });
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret', 'idempotency-key': 'k1' });
  });

  test('--if-match is sent with an update', async () => {
    await using server = await startStubServer(() => createProblemResponse(412, 'precondition_failed'));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const argv = ['orders', 'update', '7', '--note', 'null', '--if-match', '"order-7-1.1"'];
    expect(JSON.parse((await runInProcess([...argv, '--print-request'])).stdout)).toMatchObject({
      headers: { 'if-match': '"order-7-1.1"' },
    });
    expect((await runInProcess(argv, { env })).exitCode).toBe(7);
    expect(server.seen[0]).toMatchObject({ method: 'PATCH', body: '{"note":null}', headers: { 'if-match': '"order-7-1.1"' } });
  });

  test.each([
    [['api-keys', 'create', '--name', 'Mine', '--scopes', 'orders.read'], 'key', 'revoke this key and create another one'],
    [['webhooks', 'rotate-secret', '7', '--yes'], 'secret', 'rotate the secret again'],
  ] as const)('%j explains what to do if a replayed response has no secret', async (argv, field, recovery) => {
    const replay = { status: 201, body: { id: 1, [field]: null }, headers: { 'idempotent-replayed': 'true' } };
    const first = { status: 201, body: { id: 1, [field]: 'something secret' } };
    await using server = await startStubServer((_, count) => (count === 1 ? first : replay));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const run = () => runInProcess([...argv, '--idempotency-key', 'k1', '--json'], { env });
    expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
    const again = await run();
    expect([again.exitCode, JSON.parse(again.stdout)]).toEqual([0, { id: 1, [field]: null }]);
    expect(again.stderr).toMatch(/^Nothing new was created: /);
    expect(again.stderr).toContain(recovery);
  });

  test('every order is sent with a new idempotency key', async () => {
    await using server = await startStubServer(() => ({ status: 201, body: { id: 1 } }));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    for (const _ of [1, 2]) await runInProcess(['orders', 'create', '--item', 'product_id=1,quantity=2', ...pickup], { env });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).not.toBe(keys[0]);
  });
});

describe('--input', () => {
  const base = { items: [{ product_id: 1, quantity: 1 }], delivery: { method: 'pickup', recipient_name: 'Ben' }, note: 'from the file' };

  test('reads a body whose fields the flags override', async () => {
    const { stdout } = await runInProcess(['orders', 'create', '--input', '-', '--delivery.recipient-name', 'Ann', '--print-request'], {
      stdin: JSON.stringify(base),
    });
    expect(JSON.parse(stdout)).toMatchObject({ body: { ...base, delivery: { method: 'pickup', recipient_name: 'Ann' } } });
  });

  test('reads a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mandate-input-'));
    const file = join(directory, 'order.json');
    await writeFile(file, JSON.stringify(base));
    expect(await printedRequest('orders', 'create', '--input', file)).toMatchObject({ body: base });
    await rm(directory, { recursive: true });
  });

  test.each(['not json', '[]', '"text"'])('rejects %s', async (stdin) => {
    expect(await runInProcess(['orders', 'create', '--input', '-'], { stdin })).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('rejects a file that does not exist', async () => {
    expect(await runInProcess(['orders', 'create', '--input', '/no/such/file'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Cannot read /no/such/file'),
    });
  });
});

describe('an invalid command line', () => {
  const runInvalid = async (...argv: string[]): Promise<CommandOutcome> =>
    runInProcess([...argv], { env: { MANDATE_API_URL: 'http://127.0.0.1:9' } });

  test('is rejected before any request, with an error for each invalid flag', async () => {
    const { exitCode, stdout, stderr } = await runInvalid(
      'orders',
      'create',
      '--item',
      'product_id=0,count=2',
      '--delivery.country',
      'Germany',
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.trim());
    expect(lines[0]).toBe('error: Invalid command line; nothing was sent');
    expect(lines.slice(1, -1).toSorted()).toEqual([
      expect.stringContaining('--delivery.country: must match ^[A-Z]{2}$'),
      '--delivery.method: is required',
      '--delivery.recipient-name: is required',
      '--item[0].count: is unknown; allowed fields are: product_id, quantity',
      '--item[0].product-id: must be 1 or more',
      '--item[0].quantity: is required',
    ]);
    expect(lines.at(-1)).toBe('hint: Show the usage with: mandate orders create --help');
  });

  test.each([
    [['orders', 'get', 'abc'], '<order-id>: must be a whole number'],
    [['orders', 'get', '0'], '<order-id>: must be 1 or more'],
    [['orders', 'list', '--limit', '1000'], '--limit: must be 100 or less'],
    [['orders', 'list', '--limit', '1e2'], '--limit: must be a whole number'],
    [['orders', 'list', '--status', 'lost'], '--status: must be one of pending, paid'],
    [['products', 'list', '--sort', 'size'], '--sort: must be one of created_at'],
    [['users', 'create', '--name', ''], '--email: is required'],
  ])('%j', async (argv, reason) => {
    const { exitCode, stderr } = await runInvalid(...argv);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(reason);
  });

  test('lists the invalid flags as JSON with --json', async () => {
    const { stderr } = await runInvalid('orders', 'get', 'abc', '--json');
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'usage',
        message: expect.any(String),
        hint: expect.any(String),
        exitCode: 2,
        fields: [{ flag: '<order-id>', path: 'order_id', message: 'must be a whole number' }],
      },
    });
  });
});

describe('a retry', () => {
  const busyAtFirst = () =>
    startStubServer((_, count) => (count === 1 ? createProblemResponse(503, 'unavailable') : { body: { id: 1, name: 'Box' } }));
  const get = async (argv: readonly string[], columns?: number) => {
    await using server = await busyAtFirst();
    const terminal = columns === undefined ? {} : { columns };
    return await runInProcess(['products', 'get', '1', ...argv], { env: { MANDATE_API_URL: server.url }, ...terminal });
  };

  test('is reported on a terminal', async () => {
    expect(await get([], 80)).toMatchObject({ exitCode: 0, stderr: 'Retrying (attempt 2) ...\n' });
  });

  test.each<[string[], number | undefined]>([
    [['--quiet'], 80],
    [['--json'], 80],
    [[], undefined],
  ])('is not reported for %j with terminal width %j', async (argv, columns) => {
    expect(await get(argv, columns)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
