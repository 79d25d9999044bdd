import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { scopeNames } from '@mandate/contract';
import { migrate } from '../../../server/database/migrate/run-migrations.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { Connections } from '../../load/connections.ts';
import { deepPosition, moveCursor } from '../../scale/deep-page.ts';
import { fillOrders } from '../../scale/fill-orders.ts';
import { createConfidentialClient } from '../../support/oauth/oauth-flow.ts';
import type { Check } from './check.ts';
import { median } from './run-load.ts';
import { clientToken } from '../servers/client-token.ts';
import { createEmptyDatabase } from '../servers/empty-database.ts';
import { issuer, sendThroughProxy, proxyHeaders } from '../servers/tls-proxy.ts';
import type { BenchmarkEnvironment } from '../servers/benchmark-environment.ts';
import { serializeRequest } from '../load-generator/traffic.ts';

/** Number of requests for each page. Requests alternate between the pages. */
const repeats = 300;
/** Disk space for one order, including indexes, WAL and a margin. */
const bytesPerOrder = 1_000;

/**
 * Measures the response times of a list of all orders in a separate, very large database. The database is filled only once, because filling
 * takes longer than all measurements.
 */
export class LargeOrderList implements AsyncDisposable {
  readonly measure: () => Promise<Check[]>;
  readonly #opened: AsyncDisposableStack;

  private constructor(opened: AsyncDisposableStack, measure: () => Promise<Check[]>) {
    this.#opened = opened;
    this.measure = measure;
  }

  static async fill(environment: BenchmarkEnvironment, count: number, report: (progress: string) => void): Promise<LargeOrderList> {
    await expectDiskSpace(count);
    await using opened = new AsyncDisposableStack();
    const postgresql = await createEmptyDatabase();
    opened.defer(() => postgresql.remove());
    const db = await openDatabaseWithoutMigrating(postgresql.url, { timeouts: 'none' });
    opened.defer(() => db.close());
    await migrate(db);
    await fillOrders(db.em.fork(), count, (done) => report(`page: ${done.toLocaleString('en')} of ${count.toLocaleString('en')} orders`));
    const client = await createConfidentialClient(db, scopeNames);
    const deepPage = await deepPosition(db, { filters: { requiredClientId: undefined, userId: undefined } });
    if (!deepPage) throw new Error('--long-list: needs more than two pages of orders');
    const server = await environment.startMandate({ DATABASE_URL: postgresql.url });
    opened.defer(() => server.stop());
    const measure = async (): Promise<Check[]> => {
      report(`page: ${deepPage.page.toLocaleString('en')} compared with page 1`);
      const headers = { ...proxyHeaders, authorization: `Bearer ${await clientToken(sendThroughProxy(server.origin), client)}` };
      const cursor = await firstCursor(server.origin, headers);
      const deepPageUrl = `/api/v1/orders?cursor=${moveCursor(cursor, deepPage.position, deriveKeys(environment.secret))}`;
      const [firstMs, deepMs] = await measureAlternately(server.origin, ['/api/v1/orders', deepPageUrl], headers);
      const title = `page ${deepPage.page.toLocaleString('en')} of ${count.toLocaleString('en')} orders, compared with page 1`;
      const parts = { 'ms, page 1': firstMs, 'ms, deep page': deepMs };
      return [{ name: 'page', title, value: deepMs / firstMs, unit: 'x', goal: { atMost: 1.5 }, parts }];
    };
    return new LargeOrderList(opened.move(), measure);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

async function expectDiskSpace(count: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const [free, needed] = [bavail * bsize, count * bytesPerOrder];
  const formatGb = (bytes: number): string => `${Math.ceil(bytes / 1e9)} GB`;
  if (free < needed)
    throw new Error(
      `${count.toLocaleString('en')} orders need ${formatGb(needed)} in ${tmpdir()}, which has ${formatGb(free)}: set TMPDIR elsewhere`,
    );
}

type Headers = Readonly<Record<string, string>>;

async function firstCursor(origin: string, headers: Headers): Promise<string> {
  const response = await sendThroughProxy(origin)(new URL('/api/v1/orders', issuer), { headers });
  return z.object({ next_cursor: z.string() }).parse(await response.json()).next_cursor;
}

/** Returns the median latencies of two URLs that are requested alternately on one connection. */
async function measureAlternately(origin: string, paths: readonly [string, string], headers: Headers): Promise<[number, number]> {
  using connections = new Connections(origin, 1);
  const measureMs = async (path: string): Promise<number> => {
    const begun = performance.now();
    const { status } = await connections.send(serializeRequest({ path, headers }, new URL(origin).host));
    if (status !== 200) throw new Error(`${path}: ${status}`);
    return performance.now() - begun;
  };
  const times: [number, number][] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) times.push([await measureMs(paths[0]), await measureMs(paths[1])]);
  const warm = times.slice(repeats / 6);
  return [median(warm.map(([first]) => first)), median(warm.map(([, deepPage]) => deepPage))];
}
