import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { databaseKind, freshPostgresqlUrl } from '../../support/services/database.ts';
import { administer } from '../../support/services/postgresql-databases.ts';
import { endServerProcesses, startServer, temporaryDataDirectory } from '../../support/server/server-process.ts';
import { countOrders, placeOrder, shopper, stockOf, type Shopper } from '../lifecycle/shopper.ts';

afterEach(endServerProcesses);

const endOtherConnections =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

/** Buyers who take a failure as it comes and go on until they are told to stop. */
function orderOnAndOn(
  who: Shopper,
  buyers: number,
  signal: AbortSignal,
): { confirmed: number[]; failures: string[]; ended: Promise<unknown> } {
  const confirmed: number[] = [];
  const failures: string[] = [];
  const buy = async (): Promise<void> => {
    while (!signal.aborted) {
      await placeOrder(who, randomUUID()).then(
        ({ id }) => confirmed.push(id),
        (error: unknown) => failures.push(String(error)),
      );
    }
  };
  return { confirmed, failures, ended: Promise.all(Array.from({ length: buyers }, buy)) };
}

describe.skipIf(databaseKind === 'pglite')('a server whose PostgreSQL ends all its connections under load', { timeout: 180_000 }, () => {
  test('answers 503 meanwhile, keeps stock and orders in step, and goes on', async () => {
    await using data = await temporaryDataDirectory();
    const url = await freshPostgresqlUrl();
    const server = await startServer({ MANDATE_DATA_DIR: data.path, DATABASE_URL: url });
    const who = await shopper(server.url, data.path);
    const over = new AbortController();
    const { confirmed, failures, ended } = orderOnAndOn(who, 8, over.signal);
    for (let round = 1; round <= 8; round++) {
      while (confirmed.length < round * 15) await sleep(10);
      await administer(url, endOtherConnections);
    }
    over.abort();
    await ended;
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.filter((failure) => !failure.includes('answered 503'))).toEqual([]);
    await placeOrder(who, 'afterwards');
    // whose confirmation was lost with the connection may have been placed all the same
    expect(await countOrders(who)).toBeGreaterThan(confirmed.length);
    expect(who.stock - (await stockOf(who))).toBe(await countOrders(who));
    expect(await server.stop()).toBe(0);
  });
});
