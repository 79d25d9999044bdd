import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { runAdminSql } from '../../support/services/postgresql-databases.ts';
import { killServerProcesses, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';
import { countOrders, placeOrder, createOrderClient, readStock, type OrderClient } from '../lifecycle/order-client.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

const terminateConnectionsSql =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

/** Starts `buyers` concurrent buyers that place orders until the signal is aborted. Records failures. */
function placeOrdersContinuously(
  orderClient: OrderClient,
  buyers: number,
  signal: AbortSignal,
): { confirmed: number[]; failures: string[]; ended: Promise<unknown> } {
  const confirmed: number[] = [];
  const failures: string[] = [];
  const buy = async (): Promise<void> => {
    while (!signal.aborted) {
      await placeOrder(orderClient, randomUUID()).then(
        ({ id }) => confirmed.push(id),
        (error: unknown) => failures.push(String(error)),
      );
    }
  };
  return { confirmed, failures, ended: Promise.all(Array.from({ length: buyers }, buy)) };
}

describe.skipIf(databaseKind === 'pglite')('a server whose PostgreSQL closes all connections under load', { timeout: 180_000 }, () => {
  test('returns 503, keeps stock and orders consistent, and recovers', async () => {
    await using data = await createDataDirectory();
    const url = await createMigratedPostgresqlUrl();
    const server = await startServerProcess({ MANDATE_DATA_DIR: data.path, DATABASE_URL: url });
    const orderClient = await createOrderClient(server.url, data.path);
    const stopped = new AbortController();
    const { confirmed, failures, ended } = placeOrdersContinuously(orderClient, 8, stopped.signal);
    for (let round = 1; round <= 8; round++) {
      await waitUntil(() => confirmed.length >= round * 15);
      await runAdminSql(url, terminateConnectionsSql);
    }
    stopped.abort();
    await ended;
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.filter((failure) => !failure.includes('returned 503'))).toEqual([]);
    await placeOrder(orderClient, 'afterwards');
    // an order may have been placed even if its confirmation was lost with the connection
    expect(await countOrders(orderClient)).toBeGreaterThan(confirmed.length);
    expect(orderClient.stock - (await readStock(orderClient))).toBe(await countOrders(orderClient));
    expect(await server.stop()).toBe(0);
  });
});
