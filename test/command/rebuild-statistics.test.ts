import { afterEach, expect, test } from 'vitest';
import { migrateAndOpenDatabase } from '../../server/schema/migrate-and-open-database.ts';
import { createMigratedPostgresqlUrl, serverDatabaseKinds } from '../support/services/database.ts';
import { runMandateServer } from '../support/server/server-command.ts';
import { createDataDirectoryFor } from '../support/server/migrated-data-directory.ts';
import { killServerProcesses } from '../support/server/server-process.ts';

afterEach(killServerProcesses);

test.each(serverDatabaseKinds)('statistics rebuild recalculates the sums (%s)', { timeout: 180_000 }, async (kind) => {
  await using data = await createDataDirectoryFor(kind);
  const url = kind === 'postgresql' ? await createMigratedPostgresqlUrl() : `${data.path}/database`;
  const db = await migrateAndOpenDatabase(url);
  const em = db.em.fork();
  await em.execute(`insert into users (name, email) values ('Anna', 'anna@example.com')`);
  await em.execute(`insert into orders (user_id, status, payment_status, currency, subtotal, shipping_total, tax_total, total, item_count, delivery)
    select min(id), 'pending', 'unpaid', 'EUR', 100, 0, 0, 100, 1, '{}' from users`);
  await em.execute('delete from order_statistics_changes');
  await db.close();
  const env = { MANDATE_DATA_DIR: data.path, ...(kind === 'postgresql' && { DATABASE_URL: url }) };
  const outcome = await runMandateServer(env, ['statistics', 'rebuild']);
  // The order belongs to three groups: all orders, its status, and orders without an application. Each group has six rows for periods from
  // 15 minutes to a month.
  expect(outcome).toEqual({ code: 0, stdout: 'The order statistics were recalculated from the orders: 18 rows.\n', stderr: '' });
  const rebuilt = await migrateAndOpenDatabase(url);
  const [row] = await rebuilt.em
    .fork()
    .execute<{ orders: number }[]>(
      `select orders::int as orders from order_statistics where dimension = 'status' and key = 'pending' and width = 'month'`,
    );
  await rebuilt.close();
  expect(row).toEqual({ orders: 1 });
});
