import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@mandate/client-sdk';
import { clientCredentials } from '@mandate/client-sdk/authorization';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databaseKind, freshPostgresqlUrl } from '../support/services/database.ts';
import { endServerProcesses, readFirstRun, startServer, temporaryDataDirectory } from '../support/server/server-process.ts';
import { placeMonth, type Stage } from './place-month.ts';
import { createProgressBar } from '../../server/command/progress-bar.ts';
import { readMonth, type RetailMonth } from './read-month.ts';

const file = process.env['MANDATE_RETAIL_FILE'] ?? join(import.meta.dirname, '../../../shared/data/online-retail-2010-12.csv.gz');
const there = existsSync(file);

describe.skipIf(!there)(
  `a real month of orders${there ? '' : ' (set MANDATE_RETAIL_FILE to the file that the README names)'}`,
  { timeout: 300_000 },
  () => {
    let month: RetailMonth;
    beforeAll(async () => {
      month = await readMonth(file);
    });
    afterEach(endServerProcesses);

    test('is read from the file as it was counted there', () => {
      expect(month).toMatchObject({ lines: 26_157, paid: 57_271_389 });
      expect([month.catalogue.length, month.customers.length, month.invoices.length]).toEqual([2_411, 885, 1_400]);
      expect(Math.max(...month.invoices.map(({ lines }) => lines.length))).toBe(169);
    });

    test('goes through the public API, adds up to the penny, and is not placed twice', async () => {
      await using data = await temporaryDataDirectory();
      const database = databaseKind === 'postgresql' ? { DATABASE_URL: await freshPostgresqlUrl() } : {};
      const server = await startServer({ MANDATE_DATA_DIR: data.path, ...database });
      const { client_id: clientId, client_secret: clientSecret } = (await readFirstRun(data.path)).applications.administration;
      const client = createClient({ baseUrl: server.url, auth: clientCredentials({ issuer: server.url, clientId, clientSecret }) });
      const whole = { products: 2_411, customers: 885, orders: 1_400, lines: 26_157, total: month.expected, unitsLeft: 0 };
      const finished: Stage[] = [];
      expect(await placeMonth(client, month, (stage, done, of) => void (done === of && finished.push(stage)))).toEqual(whole);
      expect(finished).toEqual(['products', 'customers', 'orders', 'read back']);
      expect(await placeMonth(client, month, () => undefined)).toEqual(whole);
      expect((await client.orders.list({ include_total: 'true', limit: 1 })).total_count).toBe(1_400);
      expect(await server.stop()).toBe(0);
    });
  },
);

describe('the progress bar', () => {
  const shown = (isTTY: boolean): string => {
    let text = '';
    const onProgress = createProgressBar({ isTTY, write: (chunk) => ((text += String(chunk)), true) });
    for (let done = 1; done <= 4; done++) onProgress('orders', done, 4);
    return text;
  };

  test('fills up on a terminal', () => {
    expect(shown(true)).toMatch(/^\rorders +█{7}░{23} 1\/4\r.*█{30} 4\/4\n$/s);
  });

  test('is one line elsewhere', () => {
    expect(shown(false)).toBe('orders: 4\n');
  });
});
