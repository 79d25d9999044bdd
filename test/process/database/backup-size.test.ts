import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { migrateAndOpenDatabase } from '../../../server/schema/migrate-and-open-database.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { fillShop } from '../../bench/servers/fill-shop.ts';
import { databaseKind, createEmptyPostgresqlUrl } from '../../support/services/database.ts';
import { measureMandateServer } from '../../support/server/server-command.ts';
import { createDataDirectory } from '../../support/server/server-process.ts';

/** Number of orders; use `MANDATE_BACKUP_ORDERS=100000` for a measurement. */
const orders = Number(process.env['MANDATE_BACKUP_ORDERS'] ?? 2_000);

async function readTotals(db: Database): Promise<object | undefined> {
  const [sums] = await db.em.fork().execute<object[]>(
    `select (select count(*) from orders) as orders, (select sum(total) from orders) as total, (select sum(total) from order_items) as lines,
            (select sum(available) from product_stock) as units, (select count(*) from users) as users`,
  );
  await db.close();
  return sums;
}

describe.skipIf(databaseKind === 'pglite')(`backup of a shop with ${orders} orders`, { timeout: 180_000 + orders * 10 }, () => {
  test('is restored with the same totals into both kinds of database', async () => {
    await using data = await createDataDirectory();
    const [from, to, file] = [await createEmptyPostgresqlUrl(), await createEmptyPostgresqlUrl(), join(data.path, 'shop.backup')];
    const source = await migrateAndOpenDatabase(from);
    await source.em.fork().execute(`set statement_timeout = 0`);
    await fillShop(source.em.fork(), { orders, products: 1_000, users: Math.ceil(orders / 10) });
    const sums = await readTotals(source);
    const secret = { MANDATE_SECRET: 's'.repeat(43) };
    const embedded = join(data.path, 'embedded');
    const steps = [
      ['backup of PostgreSQL', { DATABASE_URL: from }, ['backup', file]],
      ['restore into PostgreSQL', { DATABASE_URL: to }, ['restore', file]],
      ['restore into the embedded database', { MANDATE_DATA_DIR: embedded }, ['restore', file]],
      ['backup of the embedded database', { MANDATE_DATA_DIR: embedded }, ['backup', `${file}.2`]],
    ] as const;
    for (const [step, env, argv] of steps) {
      const { code, stdout, stderr, memory } = await measureMandateServer({ ...secret, ...env }, argv);
      expect([code, stdout], stderr).toEqual([0, expect.stringContaining(' rows')]);
      process.stderr.write(`${step}: ${stdout.trim().slice(stdout.indexOf(': ') + 2)}, ${memory} MB of memory\n`);
    }
    expect(await readTotals(await openDatabaseWithoutMigrating(to))).toEqual(sums);
    expect(await readTotals(await openDatabaseWithoutMigrating(join(embedded, 'database')))).toEqual(sums);
  });
});
