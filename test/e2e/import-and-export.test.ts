import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, describe, expect, test } from 'vitest';
import { createClient } from '@mandate/client-sdk';
import { killProcesses, spawnCommand, type CommandOutcome } from '../cli/run-command-line.ts';
import { hasMonthFile, monthFile } from '../retail/month-file.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../support/services/database.ts';
import { findFreePort } from '../support/network/free-port.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  startServerProcess,
  createDataDirectory,
} from '../support/server/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

afterEach(killProcesses);
afterEach(killServerProcesses);

const expectedFigures = { orders: 1_400, lines: 26_157, pence: 57_271_389, customers: 885 };

/** Splits a command line into words. */
const splitWords = (text: string): string[] => text.trim().split(/\s+/);
const importMonthCommand = [
  'orders',
  'import',
  monthFile,
  ...splitWords(`
    --source online-retail --amounts decimal --currency GBP --interval 200ms
    --reference-column InvoiceNo --created-at-column InvoiceDate --customer-column CustomerID
    --sku-column StockCode --name-column Description --quantity-column Quantity --unit-price-column UnitPrice
    --unknown-customers create --unknown-products create --bad-lines leave_out --free-lines refuse`),
];

/** Starts an installation, and returns functions that run commands as its administrator. */
async function startInstallation() {
  const data = await createDataDirectory();
  const databaseUrl = databaseKind === 'pglite' ? join(data.path, 'database') : await createMigratedPostgresqlUrl();
  const environment = {
    MANDATE_DATA_DIR: data.path,
    PORT: String(await findFreePort()),
    ...(databaseKind === 'pglite' ? {} : { DATABASE_URL: databaseUrl }),
  };
  const server = await startServerProcess(environment);
  const token = await obtainAdministrationToken(server.url, data.path);
  const start = (...argv: string[]) =>
    spawnCommand(argv, { MANDATE_API_URL: server.url, MANDATE_TOKEN: token, MANDATE_CONFIG_DIR: data.path });
  return {
    client: createClient({ baseUrl: server.url, auth: token }),
    directory: data.path,
    start,
    mandate: (...argv: string[]): Promise<CommandOutcome> => start(...argv).exited,
    /** Kills the server as a power cut would, and restarts it. */
    killAndRestart: async (): Promise<void> => {
      await server.kill();
      await startServerProcess(environment);
    },
    [Symbol.asyncDispose]: async () => {
      await killServerProcesses();
      await data[Symbol.asyncDispose]();
    },
  };
}

type Installation = Awaited<ReturnType<typeof startInstallation>>;

async function exportedFigures({ mandate, directory }: Installation): Promise<typeof expectedFigures> {
  const path = join(directory, 'month.csv');
  const columns = 'id,user_id,unit_price,quantity,line_total';
  const outcome = await mandate('orders', 'export', '--rows', 'lines', '--columns', columns, '-o', path, '-y', '--interval', '200ms');
  expect(outcome, outcome.stderr).toMatchObject({ exitCode: 0, stdout: '' });
  const rows: Record<string, string>[] = parse(await readFile(path, 'utf8'), { columns: true });
  expect(rows.every((row) => Number(row['unit_price']) * Number(row['quantity']) === Number(row['line_total']))).toBe(true);
  return {
    orders: new Set(rows.map((row) => row['id'])).size,
    lines: rows.length,
    pence: rows.reduce((sum, row) => sum + Number(row['line_total']), 0),
    customers: new Set(rows.map((row) => row['user_id'])).size,
  };
}

describe.skipIf(!hasMonthFile)(
  `a real month of orders on the command line${hasMonthFile ? '' : ' (skipped: MANDATE_RETAIL_FILE is not set, see docs/testing.md)'}`,
  { timeout: 300_000 },
  () => {
    test('is imported although the server is killed, is unchanged by a second import, and is exported with the same totals', async () => {
      await using shop = await startInstallation();
      const command = shop.start(...importMonthCommand, '--json');
      const processed = async (): Promise<number> => {
        const [task] = (await shop.client.tasks.list()).data;
        return task?.progress.processed ?? 0;
      };
      await waitUntil(async () => (await processed()) >= 5_000);
      const before = await processed();
      const killedAt = performance.now();
      await shop.killAndRestart();
      await waitUntil(async () => (await processed()) !== before);
      expect(performance.now() - killedAt).toBeLessThan(15_000);
      const first = await command.exited;
      expect(first.exitCode, first.stderr).toBe(8);
      expect(first.stderr).toContain(
        '1400 created, 0 updated, 0 unchanged, 625 rejected.\nNumber of messages about individual lines: 1160\n',
      );
      expect(JSON.parse(first.stdout)).toMatchObject({ status: 'succeeded', progress: { processed: 42_481, total: 42_481 } });
      expect(await exportedFigures(shop)).toEqual(expectedFigures);

      const report = join(shop.directory, 'remarks.ndjson');
      const second = await shop.mandate(...importMonthCommand, '--report', report);
      expect(second.exitCode, second.stderr).toBe(8);
      expect(second.stderr).toContain(`0 created, 0 updated, 1400 unchanged, 625 rejected.\n`);
      expect((await readFile(report, 'utf8')).trimEnd().split('\n')).toHaveLength(1160);
      expect(await exportedFigures(shop)).toEqual(expectedFigures);
    });
  },
);

describe('products, orders and payments on the command line', { timeout: 120_000 }, () => {
  test('are imported, ordered, paid, watched, exported and canceled', async () => {
    await using shop = await startInstallation();
    const { mandate, directory } = shop;
    const file = join(directory, 'products.csv');
    await writeFile(file, 'SKU,name,price\nT-1,Tea,4.50\nT-2,,1\nT-3,Cup,12\n');
    const importCommand = [
      'products',
      'import',
      file,
      '--sku-column',
      'SKU',
      '--amounts',
      'decimal',
      '--currency',
      'GBP',
      '--category',
      'tea',
    ];
    const dryRun = await mandate(...importCommand, '--dry-run');
    expect(dryRun).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('Nothing was changed. The result would be: 2 created') });
    expect(await mandate(...importCommand)).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining(
        '2 created, 0 updated, 0 unchanged, 1 rejected.\nNumber of messages about individual lines: 1\n  line 3 name: Required\n',
      ),
    });
    const [tea] = (await shop.client.products.list({ sku: 'T-1', status: ['draft'] })).data;
    expect(tea?.price).toBe(450);
    expect((await mandate('products', 'update', String(tea?.id), '--status', 'active')).exitCode).toBe(0);

    const { data: users } = await shop.client.users.list({ role: ['customer'] });
    const ordered = await mandate(
      ...splitWords(`orders create --item product_id=${tea?.id},quantity=2 --user-id ${users[0]?.id} --get id`),
      ...splitWords('--delivery.method collection --delivery.recipient-name Ann'),
    );
    expect(ordered.exitCode, ordered.stderr).toBe(0);
    const id = ordered.stdout.trim();
    const watching = mandate('orders', 'watch', id, '--until', 'paid', '--max-wait', '60s', '--interval', '100ms');
    expect(await mandate('orders', 'pay', id)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Confirm in advance with: -y'),
    });
    const declined = await mandate('orders', 'pay', id, '--provider', 'test', '--method-token', 'test_declined', '-y');
    expect(declined, declined.stderr).toMatchObject({ exitCode: 12, stderr: expect.stringContaining('The card was declined.') });
    const paid = await mandate('orders', 'pay', id, '--provider', 'test', '--method-token', 'test_ok', '-y', '--wait', '--get', 'status');
    expect(paid, paid.stderr).toMatchObject({ exitCode: 0, stdout: 'succeeded\n' });
    expect(await watching).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/ {2}pending, unpaid\n.* {2}pending → paid, unpaid → paid\n$/),
    });

    const piped = await mandate('orders', 'export', '--columns', 'id,total,total_decimal');
    expect(piped).toMatchObject({ exitCode: 0, stdout: `id,total,total_decimal\r\n${id},900,9.00\r\n` });
    expect((await mandate('orders', 'cancel', id)).exitCode).toBe(2);
    expect(await mandate('orders', 'cancel', id, '--reason', 'staff', '-y', '--get', 'status')).toMatchObject({ stdout: 'canceled\n' });
    expect(await mandate('orders', 'watch', id, '--until', 'shipped')).toMatchObject({ exitCode: 12 });
    expect((await readdir(directory)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});
