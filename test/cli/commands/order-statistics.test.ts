import { describe, expect, test } from 'vitest';
import { startStubServer, type StubServer } from '../../sdk/stub-server.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const sums = (orders: number, revenue: number) => ({
  orders,
  paid_orders: orders,
  items: 2 * orders,
  revenue,
  refunds: 0,
  refunded_total: 0,
  net_revenue: revenue,
});
const period = (starts_at: string, orders: number, revenue: number) => ({ starts_at, ends_at: starts_at, ...sums(orders, revenue) });
const statistics = {
  currency: 'EUR',
  time_zone: 'Europe/Berlin',
  interval: 'day',
  group_by: null,
  from: '2026-03-28',
  to: '2026-03-30',
  previous_from: '2026-03-25',
  totals: sums(6, 30_000),
  previous_totals: sums(3, 40_000),
  periods: [
    period('2026-03-27T23:00:00.000Z', 2, 10_000),
    period('2026-03-28T23:00:00.000Z', 0, 0),
    period('2026-03-29T22:00:00.000Z', 4, 20_000),
  ],
  previous_periods: [],
  groups: [],
  group_count: 0,
};
const groups = [
  { key: '7', name: 'Grand piano\u001b[2J', totals: sums(1, 20_000), previous_totals: sums(0, 0), periods: [] },
  { key: '8', name: null, totals: sums(2, 5_000), previous_totals: sums(1, 10_000), periods: [] },
];

const utf8 = { LANG: 'en_GB.UTF-8' };
const serve = (body: object = statistics): Promise<StubServer> => startStubServer(() => ({ body }));
const run = (server: StubServer, argv: readonly string[], env: Record<string, string> = {}, columns?: number): Promise<CommandOutcome> =>
  runInProcess(['stats', 'orders', ...argv], {
    env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret', NO_COLOR: '1', ...env },
    ...(columns !== undefined && { columns }),
  });

describe('--chart on a terminal', () => {
  test('draws sparklines and bars', async () => {
    await using server = await serve();
    const { stdout, exitCode } = await run(server, ['--by', 'day', '--chart'], utf8, 60);
    expect(exitCode).toBe(0);
    expect(server.seen[0]?.url).toBe('/api/v1/statistics/orders?interval=day');
    expect(stdout.split('\n')).toEqual([
      '2026-03-28 to 2026-03-30 (Europe/Berlin), compared with the previous period',
      'orders          6   +100%  ▅▁█',
      'items          12   +100%  ▅▁█',
      'revenue   €300.00    -25%  ▅▁█',
      'refunded    €0.00          ▁▁▁',
      '',
      '2026-03-28  ████████████▌              €100.00     2 orders',
      '2026-03-29                               €0.00     0 orders',
      '2026-03-30  █████████████████████████  €200.00     4 orders',
      '',
    ]);
  });

  test('uses ASCII characters in other locales', async () => {
    await using server = await serve();
    const { stdout } = await run(server, ['--chart'], { LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, 60);
    expect(stdout).toMatch(/^orders +6 +\+100% {2}[+]_#$/m);
    expect(stdout).toMatch(/^2026-03-30 {2}#{20,} +€200\.00/m);
    expect(stdout).not.toMatch(/[▁-█]/);
  });

  test('draws a bar for each group, and control characters are replaced', async () => {
    await using server = await serve({ ...statistics, group_by: 'product', groups, group_count: 2 });
    const { stdout } = await run(server, ['--group-by', 'product', '--chart'], utf8, 80);
    expect(stdout).toMatch(/^Grand piano\uFFFD\[2J {2}█+ +€200\.00 *$/m);
    expect(stdout).toMatch(/^8 +█+[▏▎▍▌▋▊▉]? +€50\.00 {4}-50%$/m);
  });

  test('a nonzero value is always visible', async () => {
    const periods = [period('2026-03-28T23:00:00.000Z', 1, 1), period('2026-03-29T22:00:00.000Z', 4, 9_000_000)];
    await using server = await serve({ ...statistics, periods });
    expect((await run(server, ['--chart'], utf8, 60)).stdout).toMatch(/^2026-03-29 {2}▏ +€0\.01/m);
  });
});

describe('a table', () => {
  test('on a terminal shows amounts with their currency', async () => {
    await using server = await serve();
    const { stdout } = await run(server, [], {}, 100);
    expect(
      stdout
        .split('\n')
        .slice(0, 2)
        .map((line) => line.split(/ {2,}/)),
    ).toEqual(
      [
        ['PERIOD', 'ORDERS', 'ITEMS', 'REVENUE', 'REFUNDED TOTAL', 'NET REVENUE'],
        ['2026-03-28', '2', '4', '€100.00', '€0.00', '€100.00'],
      ].map((cells) => cells.map((cell) => expect.stringContaining(cell))),
    );
  });

  test('replaces the chart in a pipe', async () => {
    await using server = await serve();
    const { stdout } = await run(server, ['--chart'], utf8);
    expect(stdout.split('\n')[0]).toBe('2026-03-28\t2\t4\t10000\t0\t10000');
  });

  test('lists groups', async () => {
    await using server = await serve({ ...statistics, group_by: 'product', groups, group_count: 2 });
    expect((await run(server, ['--group-by', 'product'])).stdout).toBe('7\tGrand piano\uFFFD[2J\t1\t2\t20000\t0\n8\t\t2\t4\t5000\t10000\n');
  });
});

test('--json, --get and --fields print the response', async () => {
  await using server = await serve();
  expect(JSON.parse((await run(server, ['--json', '--chart'])).stdout)).toEqual(statistics);
  expect((await run(server, ['--get', 'totals.revenue'])).stdout).toBe('30000\n');
  expect((await run(server, ['--fields', 'totals.orders', '--json'])).stdout).toBe('{"totals.orders":6}\n');
});

test('an unknown interval is rejected before a request is sent', async () => {
  await using server = await serve();
  const { exitCode, stderr } = await run(server, ['--by', 'year']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('interval')]);
  expect(server.seen).toEqual([]);
});
