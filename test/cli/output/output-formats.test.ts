import { describe, expect, test } from 'vitest';
import { getDisplayWidth } from '../../../cli/terminal/sanitize-and-measure-terminal-text.ts';
import { createProblemResponse, startStubServer, type SeenRequest, type StubResponse } from '../../sdk/stub-server.ts';
import { runInProcess } from '../run-command-line.ts';

const product = {
  id: 1,
  sku: 'A-1',
  name: 'Wooden box',
  category: 'toys',
  price: 1205,
  currency: 'EUR',
  stock: 7,
  status: 'active',
  metadata: {},
  created_at: '2026-11-20T12:00:00.000Z',
};
const order = {
  id: 42,
  status: 'pending',
  total: 2410,
  currency: 'EUR',
  delivery: { method: 'pickup', recipient_name: 'Ann' },
  cancel_reason: null,
  items: [{ line: 1, product_id: 1, sku: 'A-1', name: 'Wooden box', unit_price: 1205, quantity: 2, total: 2410 }],
  created_at: '2026-11-20T12:00:00.000Z',
};
const pageOf = (items: unknown[], next: string | null = null): StubResponse => ({
  body: { data: items, has_more: next !== null, next_cursor: next },
});
const env = (url: string) => ({ MANDATE_API_URL: url, MANDATE_TOKEN: 'secret', TZ: 'UTC' });

describe('JSON output', () => {
  test('is the received body as one document, including unknown fields', async () => {
    const body = { ...order, new_field: { deep: [1, 2] } };
    await using server = await startStubServer(() => ({ body }));
    const { stdout, stderr } = await runInProcess(['orders', 'get', '42', '--json'], { env: env(server.url) });
    expect(stderr).toBe('');
    expect(stdout).toBe(`${JSON.stringify(body)}\n`);
    const onTerminal = await runInProcess(['orders', 'get', '42', '--json'], { env: env(server.url), columns: 80 });
    expect(onTerminal.stdout).toBe(`${JSON.stringify(body, null, 2)}\n`);
  });

  test('contains no control characters', async () => {
    await using server = await startStubServer(() => ({ body: { name: '\u001b[31m\u009b31m\u007f' } }));
    const { stdout } = await runInProcess(['products', 'get', '1', '--json'], { env: env(server.url) });
    for (const character of ['\u001b', '\u009b', '\u007f']) expect(stdout).not.toContain(character);
    expect(JSON.parse(stdout)).toEqual({ name: '\u001b[31m\u009b31m\u007f' });
  });

  test('has one item per line with --jsonl', async () => {
    await using server = await startStubServer(() => pageOf([product, { ...product, id: 2 }]));
    const { stdout } = await runInProcess(['products', 'list', '--jsonl'], { env: env(server.url) });
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual([1, 2]);
  });

  test('contains only the fields of --fields', async () => {
    await using server = await startStubServer(() => pageOf([product]));
    const { stdout } = await runInProcess(['products', 'list', '--json', '--fields', 'id,price'], { env: env(server.url) });
    expect(JSON.parse(stdout)).toEqual({ data: [{ id: 1, price: 1205 }], has_more: false, next_cursor: null });
  });

  test('rejects an unknown field in --fields and lists the available fields', async () => {
    await using server = await startStubServer(() => pageOf([product]));
    const { exitCode, stdout, stderr } = await runInProcess(['products', 'list', '--fields', 'id,prize'], { env: env(server.url) });
    expect({ exitCode, stdout, sent: server.seen.length }).toEqual({ exitCode: 2, stdout: '', sent: 0 });
    expect(stderr).toContain('Unknown field: prize. Available fields: id, sku, name');
  });

  test.each([
    ['data.id', '1\n2\n'],
    ['data.price', '1205\n5\n'],
    ['has_more', 'false\n'],
  ])('contains one value per line with --get %s', async (path, text) => {
    await using server = await startStubServer(() => pageOf([product, { ...product, id: 2, price: 5 }]));
    expect((await runInProcess(['products', 'list', '--get', path], { env: env(server.url) })).stdout).toBe(text);
  });
});

describe('in a pipe', () => {
  test('a list is tab-separated, with unformatted values, not truncated and without a header', async () => {
    await using server = await startStubServer(() => pageOf([{ ...product, name: `a\tb\nc${'x'.repeat(200)}` }], 'next'));
    const { stdout, stderr } = await runInProcess(['products', 'list'], { env: env(server.url) });
    expect(stdout).toBe(`1\tA-1\ta b c${'x'.repeat(200)}\ttoys\t1205\t7\n`);
    expect(stderr).toBe('');
  });

  test('an object has one field per line', async () => {
    await using server = await startStubServer(() => ({ body: order }));
    const { stdout } = await runInProcess(['orders', 'get', '42'], { env: env(server.url) });
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'id\t42',
        'total\t2410',
        'delivery.method\tpickup',
        'cancel_reason\t',
        'created_at\t2026-11-20T12:00:00.000Z',
      ]),
    );
  });
});

describe('on a terminal', () => {
  test('a list is a table with formatted amounts, followed by a hint for the next page', async () => {
    await using server = await startStubServer(() => pageOf([product], 'next'));
    const { stdout, stderr } = await runInProcess(['products', 'list', '--no-color'], { env: env(server.url), columns: 80 });
    expect(stdout).toBe('ID  SKU  NAME        CATEGORY   PRICE  STOCK\n 1  A-1  Wooden box  toys      €12.05      7\n');
    expect(stderr).toBe('1 shown; get more with --cursor next or --all\n');
    expect((await runInProcess(['products', 'list', '--quiet'], { env: env(server.url), columns: 80 })).stderr).toBe('');
  });

  test.each([30, 50, 100])('a table with wide characters and control characters fits %i columns', async (columns) => {
    const names = ['木製の箱とドミノのセット、子供用', 'Box 🎁 with a very long name that goes on', '\u001b[31mred\u0007'];
    await using server = await startStubServer(() => pageOf(names.map((name, id) => ({ ...product, id, name }))));
    const { stdout } = await runInProcess(['products', 'list', '--no-color'], { env: env(server.url), columns });
    for (const character of ['\u001b', '\u0007']) expect(stdout).not.toContain(character);
    for (const line of stdout.trimEnd().split('\n')) expect(getDisplayWidth(line)).toBeLessThanOrEqual(columns);
  });

  test('the header is bold unless color is disabled', async () => {
    await using server = await startStubServer(() => pageOf([product]));
    const run = async (more: Record<string, string>, ...argv: string[]) =>
      (await runInProcess(['products', 'list', ...argv], { env: { ...env(server.url), ...more }, columns: 80 })).stdout;
    expect(await run({})).toContain('\u001b[1m');
    expect(await run({ NO_COLOR: '1' })).not.toContain('\u001b');
    expect(await run({ TERM: 'dumb' })).not.toContain('\u001b');
    expect(await run({}, '--color', 'never')).not.toContain('\u001b');
    expect(await run({ NO_COLOR: '1' }, '--color', 'always')).toContain('\u001b[1m');
  });

  test('a status is colored and the columns stay aligned', async () => {
    const rows = ['paid', 'pending', 'canceled', 'something new'].map((status, id) => ({ ...order, id, status }));
    await using server = await startStubServer(() => pageOf(rows));
    const { stdout } = await runInProcess(['orders', 'list', '--fields', 'status,id'], { env: env(server.url), columns: 80 });
    expect(stdout.split('\n').slice(1)).toEqual([
      '\u001b[32mpaid\u001b[39m            0',
      '\u001b[33mpending\u001b[39m         1',
      '\u001b[31mcanceled\u001b[39m        2',
      'something new   3',
      '',
    ]);
  });

  test('an order is shown as fields and a table of its lines', async () => {
    await using server = await startStubServer(() => ({ body: order }));
    const { stdout } = await runInProcess(['orders', 'get', '42', '--no-color'], { env: env(server.url), columns: 100 });
    expect(stdout).toContain('total                    €24.10\n');
    expect(stdout).toContain('\nLINE  PRODUCT ID  SKU  NAME        QUANTITY  UNIT PRICE   TOTAL\n');
    expect(stdout).not.toContain('cancel_reason');
  });

  test('an empty list prints nothing and exits with code 0', async () => {
    await using server = await startStubServer(() => pageOf([]));
    expect(await runInProcess(['products', 'list'], { env: env(server.url), columns: 80 })).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });
});

describe('--all', () => {
  const pages: Record<string, StubResponse> = {
    first: pageOf([product], 'b'),
    b: pageOf([{ ...product, id: 2 }], 'c'),
    c: pageOf([{ ...product, id: 3 }]),
  };
  const cursorOf = ({ url }: SeenRequest): string => new URL(url, 'http://x').searchParams.get('cursor') ?? 'first';

  test('prints one document with --json', async () => {
    await using server = await startStubServer((request) => pages[cursorOf(request)] ?? createProblemResponse(400, 'invalid_cursor'));
    const { stdout } = await runInProcess(['products', 'list', '--all', '--json', '--category', 'toys'], { env: env(server.url) });
    expect(JSON.parse(stdout)).toMatchObject({ data: [{ id: 1 }, { id: 2 }, { id: 3 }], has_more: false, next_cursor: null });
    expect(server.seen.map(({ url }) => url)).toEqual([
      '/api/v1/products?category=toys',
      '/api/v1/products?category=toys&cursor=b',
      '/api/v1/products?category=toys&cursor=c',
    ]);
  });

  test('prints page by page in a pipe and reports the cursor of a page that fails', async () => {
    await using server = await startStubServer((request) =>
      cursorOf(request) === 'c' ? createProblemResponse(404, 'not_found') : (pages[cursorOf(request)] ?? {}),
    );
    const { exitCode, stdout, stderr } = await runInProcess(['products', 'list', '--all'], { env: env(server.url) });
    expect(exitCode).toBe(6);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toContain('hint: 2 items were printed. Continue with: --cursor c');
  });
});
