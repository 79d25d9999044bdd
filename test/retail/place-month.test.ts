import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@mandate/client-sdk';
import { clientCredentials } from '@mandate/client-sdk/authorization';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind, createMigratedPostgresqlUrl } from '../support/services/database.ts';
import { killServerProcesses, readFirstRunFile, startServerProcess, createDataDirectory } from '../support/server/server-process.ts';
import { placeMonth, type ProgressPhase } from './place-month.ts';
import { createProgressBar } from '../../server/command/progress-bar.ts';
import { readMonth, type RetailMonth } from './read-month.ts';

const file = process.env['MANDATE_RETAIL_FILE'] ?? join(import.meta.dirname, '../../../shared/data/online-retail-2010-12.csv.gz');
const hasFile = existsSync(file);

describe.skipIf(!hasFile)(
  `placing a real month of orders${hasFile ? '' : ' (set MANDATE_RETAIL_FILE to the file that docs/testing.md names)'}`,
  { timeout: 300_000 },
  () => {
    let month: RetailMonth;
    beforeAll(async () => {
      month = await readMonth(file);
    });
    afterEach(killServerProcesses);

    test('the file has the known totals', () => {
      expect(month).toMatchObject({ lines: 26_157, paid: 57_271_389 });
      expect([month.catalogue.length, month.customers.length, month.invoices.length]).toEqual([2_411, 885, 1_400]);
      expect(Math.max(...month.invoices.map(({ lines }) => lines.length))).toBe(169);
    });

    test('all orders are placed through the public API with exact totals, and a second run places none', async () => {
      await using data = await createDataDirectory();
      const database = databaseKind === 'postgresql' ? { DATABASE_URL: await createMigratedPostgresqlUrl() } : {};
      const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, ...database });
      const { client_id: clientId, client_secret: clientSecret } = (await readFirstRunFile(data.path)).applications.administration;
      const client = createClient({ baseUrl: server.url, auth: clientCredentials({ issuer: server.url, clientId, clientSecret }) });
      const expectedMonth = { products: 2_411, customers: 885, orders: 1_400, lines: 26_157, total: month.expected, unitsLeft: 0 };
      const finished: ProgressPhase[] = [];
      expect(await placeMonth(client, month, (phase, done, of) => void (done === of && finished.push(phase)))).toEqual(expectedMonth);
      expect(finished).toEqual(['products', 'customers', 'orders', 'read back']);
      expect(await placeMonth(client, month, () => undefined)).toEqual(expectedMonth);
      expect((await client.orders.list({ include_total: 'true', limit: 1 })).total_count).toBe(1_400);
      expect(await server.stop()).toBe(0);
    });
  },
);

describe('the progress bar', () => {
  const renderBar = (isTTY: boolean): string => {
    let text = '';
    const onProgress = createProgressBar({ isTTY, write: (chunk) => ((text += String(chunk)), true) });
    for (let done = 1; done <= 4; done++) onProgress('orders', done, 4);
    return text;
  };

  test('is drawn on a terminal', () => {
    expect(renderBar(true)).toMatch(/^\rorders +█{7}░{23} 1\/4\r.*█{30} 4\/4\n$/s);
  });

  test('is one line without a terminal', () => {
    expect(renderBar(false)).toBe('orders: 4\n');
  });
});
