import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { orderCreate } from '../../../contract/resources/orders/orders.ts';
import { problem, stubServer } from '../../sdk/stub-server.ts';
import { runHere, type Outcome } from '../command-line.ts';

const pickup = ['--delivery.method', 'pickup', '--delivery.recipient-name', 'Ann Lee'];
const printedRequest = async (...argv: string[]): Promise<unknown> => JSON.parse((await runHere([...argv, '--print-request'])).stdout);

describe('flags become the request', () => {
  test('items, nested fields and pairs', async () => {
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
    expect(orderCreate.parse(body)).toEqual(body);
  });

  test('a time ago that is before the first year is sent as it was typed, for the service to reject', async () => {
    const sent = await printedRequest('orders', 'list', '--created-at-gte', '999999d', '--created-at-lt', '700000d');
    expect(sent).toMatchObject({ query: { created_at_gte: '999999d', created_at_lt: expect.stringMatching(/^0\d{3}-.*Z$/) } });
  });

  test('lists, dates and times ago', async () => {
    const { query }: { query: Record<string, string> } = JSON.parse(
      (
        await runHere([
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

  test('negative numbers and null', async () => {
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

  test('what is sent is what a dry run shows', async () => {
    await using server = await stubServer(() => ({ status: 201, body: { id: 1 } }));
    const argv = ['orders', 'create', '--item', 'product_id=1,quantity=2', ...pickup, '--idempotency-key', 'k1'];
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const shown: { method: string; path: string; body: unknown } = JSON.parse(
      (await runHere([...argv, '--print-request'], { env })).stdout,
    );
    expect(server.seen).toEqual([]);
    expect((await runHere(argv, { env })).exitCode).toBe(0);
    const [sent] = server.seen;
    expect({ method: sent?.method, path: sent?.url, body: JSON.parse(sent?.body ?? '') }).toEqual({
      method: shown.method,
      path: shown.path,
      body: shown.body,
    });
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer secret', 'idempotency-key': 'k1' });
  });

  test('--if-match goes with a change', async () => {
    await using server = await stubServer(() => problem(412, 'precondition_failed'));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const argv = ['orders', 'update', '7', '--note', 'null', '--if-match', '"order-7-1.1"'];
    expect(JSON.parse((await runHere([...argv, '--print-request'])).stdout)).toMatchObject({ headers: { 'if-match': '"order-7-1.1"' } });
    expect((await runHere(argv, { env })).exitCode).toBe(7);
    expect(server.seen[0]).toMatchObject({ method: 'PATCH', body: '{"note":null}', headers: { 'if-match': '"order-7-1.1"' } });
  });

  test.each([
    [['api-keys', 'create', '--name', 'Mine', '--scopes', 'orders.read'], 'key', 'revoke this key and create another one'],
    [['webhooks', 'rotate-secret', '7', '--yes'], 'secret', 'rotate the secret again'],
  ] as const)('%j says what to do when a replay has no secret', async (argv, field, recovery) => {
    const replay = { status: 201, body: { id: 1, [field]: null }, headers: { 'idempotent-replayed': 'true' } };
    const first = { status: 201, body: { id: 1, [field]: 'something secret' } };
    await using server = await stubServer((_, count) => (count === 1 ? first : replay));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const run = () => runHere([...argv, '--idempotency-key', 'k1', '--json'], { env });
    expect(await run()).toMatchObject({ exitCode: 0, stderr: '' });
    const again = await run();
    expect([again.exitCode, JSON.parse(again.stdout)]).toEqual([0, { id: 1, [field]: null }]);
    expect(again.stderr).toMatch(/^Nothing new was created: /);
    expect(again.stderr).toContain(recovery);
  });

  test('every order has an idempotency key of its own', async () => {
    await using server = await stubServer(() => ({ status: 201, body: { id: 1 } }));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    for (const _ of [1, 2]) await runHere(['orders', 'create', '--item', 'product_id=1,quantity=2', ...pickup], { env });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).not.toBe(keys[0]);
  });
});

describe('--input', () => {
  const base = { items: [{ product_id: 1, quantity: 1 }], delivery: { method: 'pickup', recipient_name: 'Ben' }, note: 'from the file' };

  test('is the body that flags are laid over', async () => {
    const { stdout } = await runHere(['orders', 'create', '--input', '-', '--delivery.recipient-name', 'Ann', '--print-request'], {
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

  test.each(['not json', '[]', '"text"'])('%s is refused', async (stdin) => {
    expect(await runHere(['orders', 'create', '--input', '-'], { stdin })).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('a file that is not there is refused', async () => {
    expect(await runHere(['orders', 'create', '--input', '/no/such/file'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('/no/such/file cannot be read'),
    });
  });
});

describe('a command line that is not valid', () => {
  const refused = async (...argv: string[]): Promise<Outcome> => runHere([...argv], { env: { MANDATE_API_URL: 'http://127.0.0.1:9' } });

  test('is refused before any request, with everything that is wrong at once, as flags', async () => {
    const { exitCode, stdout, stderr } = await refused(
      'orders',
      'create',
      '--item',
      'product_id=0,count=2',
      '--delivery.country',
      'Germany',
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    const told = stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.trim());
    expect(told[0]).toBe('error: Nothing was sent: the command line is not valid');
    expect(told.slice(1, -1).toSorted()).toEqual([
      expect.stringContaining('--delivery.country: must look like ^[A-Z]{2}$'),
      '--delivery.method: is required',
      '--delivery.recipient-name: is required',
      '--item[0].count: is not known; there are: product_id, quantity',
      '--item[0].product-id: must be 1 or more',
      '--item[0].quantity: is required',
    ]);
    expect(told.at(-1)).toBe('hint: Read how it is used: mandate orders create --help');
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
    const { exitCode, stderr } = await refused(...argv);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(reason);
  });

  test('tells programs which flags it was', async () => {
    const { stderr } = await refused('orders', 'get', 'abc', '--json');
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

describe('another try', () => {
  const busyAtFirst = () => stubServer((_, count) => (count === 1 ? problem(503, 'unavailable') : { body: { id: 1, name: 'Box' } }));
  const get = async (argv: readonly string[], columns?: number) => {
    await using server = await busyAtFirst();
    const terminal = columns === undefined ? {} : { columns };
    return await runHere(['products', 'get', '1', ...argv], { env: { MANDATE_API_URL: server.url }, ...terminal });
  };

  test('is told to whoever waits at the terminal', async () => {
    expect(await get([], 80)).toMatchObject({ exitCode: 0, stderr: 'Trying again (1) ...\n' });
  });

  test.each<[string[], number | undefined]>([
    [['--quiet'], 80],
    [['--json'], 80],
    [[], undefined],
  ])('is told to nobody else: %j on %j columns', async (argv, columns) => {
    expect(await get(argv, columns)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
