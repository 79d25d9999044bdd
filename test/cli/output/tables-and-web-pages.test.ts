import { describe, expect, test } from 'vitest';
import { tableColumnsByOperation } from '../../../cli/output/table-columns.ts';
import { commandSpecs } from '../../../cli/contract-commands/commands.gen.ts';
import { startStubServer, type StubServer } from '../../sdk/stub-server.ts';
import { createConfigDirectory, runInProcess, type CommandOutcome } from '../run-command-line.ts';
import { writeFile } from 'node:fs/promises';

const tokenWith = (scope: string): string => `e30.${Buffer.from(JSON.stringify({ scope })).toString('base64url')}.sig-nature`;
const listing = (...data: unknown[]): Promise<StubServer> =>
  startStubServer(() => ({ body: { data, has_more: false, next_cursor: null } }));
const runOnTerminal = (server: StubServer, argv: readonly string[], token = 'secret', width = 160): Promise<CommandOutcome> =>
  runInProcess(argv, { env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: token, TZ: 'UTC', NO_COLOR: '1' }, columns: width });
const headerOf = ({ stdout }: CommandOutcome): string[] => (stdout.split('\n')[0] ?? '').split(/ {2,}/);

test.each(commandSpecs.filter(({ paginated }) => paginated).map(({ operationId }) => operationId))(
  '%s has default columns',
  (operationId) => {
    const spec = commandSpecs.find((candidate) => candidate.operationId === operationId);
    // if no columns are chosen, the table shows every field that is not nested
    const chosen = tableColumnsByOperation[operationId] ?? spec?.fields.filter((field) => !field.includes('.')) ?? [];
    expect(chosen.length).toBeGreaterThanOrEqual(Math.min(spec?.fields?.length ?? 3, 3));
    expect(chosen.length, `choose the columns of ${operationId} in cli/output/table-columns.ts`).toBeLessThan(9);
    expect(spec?.fields).toEqual(expect.arrayContaining([...chosen]));
  },
);

describe('tables', () => {
  test('applications list', async () => {
    await using server = await listing({
      id: 3,
      client_id: 'shop',
      name: 'Shop',
      type: 'public',
      logo_uri: 'data:image/png;base64,AAAA',
      status: 'active',
      registration: 'administrator',
      created_at: '2026-11-20T12:00:00.000Z',
    });
    const outcome = await runOnTerminal(server, ['applications', 'list']);
    expect(headerOf(outcome)).toEqual(['ID', 'CLIENT ID', 'NAME', 'TYPE', 'STATUS', 'REGISTERED BY', 'REGISTERED']);
    expect(outcome.stdout).not.toContain('base64');
  });

  test('audit-events list', async () => {
    await using server = await listing({
      id: 9,
      occurred_at: '2026-11-20T12:00:00.000Z',
      action: 'password.changed',
      outcome: 'success',
      actor_id: 1,
      details: {},
    });
    const outcome = await runOnTerminal(server, ['audit-events', 'list']);
    expect(headerOf(outcome)).toEqual(['TIME', 'ACTION', 'OUTCOME', 'ACTOR', 'USER', 'APPLICATION', 'SUBJECT', 'IP']);
    expect(outcome.stdout).toContain('2026-11-20 12:00:00  password.changed  success');
  });

  test('shipments create shows selected fields, and only the line columns that have values', async () => {
    const body = {
      id: 5,
      order_id: 42,
      status: 'shipped',
      carrier: 'Post',
      tracking_number: null,
      items: [{ line: 1, quantity: 2 }],
      version: 1,
      created_at: '2026-11-20T12:00:00.000Z',
      shipped_at: '2026-11-20T12:00:00.000Z',
    };
    await using server = await startStubServer(() => ({ status: 201, body }));
    const { stdout } = await runOnTerminal(server, ['shipments', 'create', '42']);
    expect(stdout).toMatch(
      /^id +5\norder_id +42\nstatus +shipped\ncarrier +Post\nshipped_at +2026-11-20 12:00:00\n\nLINE {2}QUANTITY\n {3}1 {9}2\n$/,
    );
    const piped = await runInProcess(['shipments', 'create', '42'], { env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' } });
    expect(piped.stdout).toContain('version\t1\n');
  });

  const order = {
    id: 1,
    user_id: 8,
    client_id: 'shop',
    status: 'paid',
    payment_status: 'paid',
    fulfillment_status: 'partial',
    total: 999,
    currency: 'EUR',
    item_count: 2,
    created_at: '2026-11-20T12:00:00.000Z',
  };
  const customerHead = ['ID', 'STATUS', 'PAYMENT', 'TOTAL', 'ITEMS', 'PLACED'];
  const staffHead = ['ID', 'CUSTOMER', 'APPLICATION', 'STATUS', 'PAYMENT', 'FULFILLMENT', 'TOTAL', 'ITEMS', 'PLACED'];

  test('orders list shows customer, application and fulfillment only to staff', async () => {
    await using server = await listing(order);
    expect(headerOf(await runOnTerminal(server, ['orders', 'list'], tokenWith('orders.read')))).toEqual(customerHead);
    expect(headerOf(await runOnTerminal(server, ['orders', 'list'], tokenWith('orders.read orders.manage')))).toEqual(staffHead);
  });

  test('orders list uses the scopes of the sign-in', async () => {
    await using server = await listing(order);
    await using home = await createConfigDirectory();
    const credential = {
      apiUrl: server.url,
      clientId: 'mandate-cli',
      accessToken: 'x',
      expiresAt: Date.now() + 3_600_000,
      scopes: ['orders.manage'],
    };
    await writeFile(home.file, JSON.stringify({ default: credential }));
    const outcome = await runInProcess(['orders', 'list'], { env: { MANDATE_CONFIG_DIR: home.path, NO_COLOR: '1' }, columns: 160 });
    expect(headerOf(outcome)).toEqual(staffHead);
  });
});

describe('the confirmation of a refund', () => {
  const refundPrompt = async (...argv: string[]): Promise<{ stderr: string; sent: string[] }> => {
    await using server = await startStubServer(() => ({
      status: 201,
      body: { id: 1, amount: 4250, currency: 'EUR', status: 'succeeded' },
    }));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const { stderr } = await runInProcess(['refunds', 'create', '42', ...argv], { env, stdin: 'y\n', stdinIsTTY: true });
    return { stderr, sent: server.seen.map(({ method, url, body }) => `${method} ${url} ${body}`) };
  };

  test('shows the refund amount and the remaining amount', async () => {
    const { stderr, sent } = await refundPrompt('--amount', '1000');
    expect(stderr).toContain('Refund €10.00 for order 42? €32.50 will remain refundable. [y/N] ');
    expect(sent).toEqual(['POST /api/v1/orders/42/refunds?dry_run=true {}', 'POST /api/v1/orders/42/refunds {"amount":1000}']);
  });

  test('shows the entire remaining amount if no amount is given', async () => {
    expect((await refundPrompt()).stderr).toContain('Refund €42.50 for order 42? Nothing will remain refundable. [y/N] ');
  });

  test('warns if the amount exceeds the remaining amount', async () => {
    expect((await refundPrompt('--amount', '99.00')).stderr).toContain(
      'Refund €99.00 for order 42? This is more than the €42.50 that can still be refunded. [y/N] ',
    );
  });
});

describe('opening the browser', () => {
  const opened: string[] = [];
  const openBrowser = async (url: string): Promise<void> => void opened.push(url);
  const open = (server: StubServer, argv: readonly string[], width: number | undefined = 80): Promise<CommandOutcome> => {
    opened.length = 0;
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    return runInProcess(argv, { env, openBrowser, ...(width > 0 && { columns: width }) });
  };

  test.each([
    [['docs'], '/docs'],
    [['docs', 'orders', 'create'], '/docs#/Orders/orders.create'],
    [['docs', 'order', 'ls'], '/docs#/Orders/orders.list'],
    [['docs', 'orders', 'pay'], '/docs#/Payments/payments.create'],
    [['docs', 'delivery-methods'], '/docs#/Delivery%20methods'],
    [['users', 'me', '-w'], '/account'],
    [['connected-apps', 'list', '--web'], '/account/apps'],
    [['api-keys', 'ls', '-w'], '/account/api-keys'],
  ])('%j opens %s without a request', async (argv, path) => {
    await using server = await listing();
    expect(await open(server, argv)).toMatchObject({ exitCode: 0, stdout: '', stderr: `Opening ${server.url}${path}\n` });
    expect({ opened, seen: server.seen }).toEqual({ opened: [server.url + path], seen: [] });
  });

  test('prints the URL in a pipe', async () => {
    await using server = await listing();
    expect(await open(server, ['docs', 'orders'], 0)).toEqual({ exitCode: 0, stdout: `${server.url}/docs#/Orders\n`, stderr: '' });
    expect(opened).toEqual([]);
  });

  test('opens the page of the payment provider or the carrier', async () => {
    await using payments = await startStubServer(() => ({
      body: { id: 9, next_action: { type: 'redirect', url: 'https://bank.example/pay' } },
    }));
    await open(payments, ['payments', 'get', '9', '-w']);
    expect(opened).toEqual(['https://bank.example/pay']);
    await using shipments = await listing({ id: 1, tracking_url: null }, { id: 2, tracking_url: 'https://post.example/2' });
    await open(shipments, ['shipments', 'list', '42', '-w']);
    expect(opened).toEqual(['https://post.example/2']);
  });

  test.each([['javascript:alert(1)'], ['file:///etc/passwd'], [null]])('rejects the URL %s', async (url) => {
    await using server = await startStubServer(() => ({ body: { id: 9, next_action: { type: 'redirect', url } } }));
    expect((await open(server, ['payments', 'get', '9', '-w'])).exitCode).toBe(2);
    expect(opened).toEqual([]);
  });

  test('rejects --web for an operation without a page and names its reference', async () => {
    await using server = await listing();
    expect(await open(server, ['orders', 'get', '42', '-w'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'error: No web page is available for "Get an order"\nhint: Open its reference with: mandate docs orders get\n',
    });
    expect(server.seen).toEqual([]);
  });
});
