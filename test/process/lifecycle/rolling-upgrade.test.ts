import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { startLoadBalancer, type LoadBalancer } from '../../support/network/load-balancer.ts';
import { createNextRelease } from '../../support/server/simulated-next-release.ts';
import { sendRefreshRequest, signIn, tokenResponseSchema, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { runMandateServer } from '../../support/server/server-command.ts';
import {
  killServerProcesses,
  readFirstRunFile,
  startServerProcess,
  createDataDirectory,
  type ServerProcess,
} from '../../support/server/server-process.ts';
import { countOrders, placeOrder, readOrder, createOrderClient, readStock, type PlacedOrder, type OrderClient } from './order-client.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(killServerProcesses);

const portOf = ({ url }: ServerProcess): number => Number(new URL(url).port);

/** Continuous load of orders, reads and token refreshes. Requests are not retried, so every error is recorded. */
class Load {
  readonly confirmed: PlacedOrder[] = [];
  readonly failures: string[] = [];
  requests = 0;
  #refreshToken: string;
  readonly #orderClient: OrderClient;
  readonly #ended: Promise<unknown>;
  readonly #done = new AbortController();

  constructor(orderClient: OrderClient, refreshToken: string) {
    this.#orderClient = orderClient;
    this.#refreshToken = refreshToken;
    const buyers = Array.from({ length: 4 }, (_, buyer) =>
      this.#repeat(`buyer ${buyer}`, (nth) => this.#placeOrder(`buyer ${buyer} order ${nth}`)),
    );
    this.#ended = Promise.all([
      ...buyers,
      this.#repeat('reader', () => countOrders(orderClient)),
      this.#repeat('refresh', () => this.#refresh()),
    ]);
  }

  /** Waits until a number of additional orders have been placed. */
  async waitForOrders(orders: number): Promise<void> {
    const until = this.confirmed.length + orders;
    await waitUntil(() => this.confirmed.length >= until).catch((cause: unknown) => {
      throw new Error(`no more orders: ${this.failures.join('\n')}`, { cause });
    });
  }

  async stop(): Promise<void> {
    this.#done.abort();
    await this.#ended;
  }

  async #repeat(label: string, sendRequest: (nth: number) => Promise<unknown>): Promise<void> {
    for (let nth = 1; !this.#done.signal.aborted; nth += 1) {
      this.requests += 1;
      await sendRequest(nth).catch((error: unknown) => this.failures.push(`${label}: ${String(error)}`));
    }
  }

  async #placeOrder(reference: string): Promise<void> {
    const order = await placeOrder(this.#orderClient, reference);
    this.confirmed.push(order);
    this.requests += 1;
    if (!isDeepStrictEqual(await readOrder(this.#orderClient, order.id), order))
      throw new Error(`order ${order.id} differs from its confirmation`);
  }

  async #refresh(): Promise<void> {
    const response = await sendRefreshRequest(this.#orderClient.url, this.#refreshToken);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    this.#refreshToken = tokenResponseSchema.parse(await response.json()).refresh_token ?? '';
  }
}

/** Time for which a stopping process still accepts requests, so that load balancers can stop sending requests to it. */
const stopDelay = { MANDATE_STOP_DELAY: '15' };

const readiness = async ({ url }: ServerProcess): Promise<number> => (await fetch(`${url}/readyz`)).status;

/** Replaces a process as Kubernetes does: starts the new process, stops the old one, and routes each request only to ready processes. */
async function replaceProcess(
  loadBalancer: LoadBalancer,
  old: ServerProcess,
  others: readonly ServerProcess[],
  start: () => Promise<ServerProcess>,
): Promise<ServerProcess> {
  const fresh = await start();
  await expect.poll(() => readiness(fresh), { timeout: 30_000 }).toBe(200);
  loadBalancer.setPorts([...others, old, fresh].map(portOf));
  const stopped = old.stop();
  await expect.poll(() => readiness(old), { timeout: 30_000 }).toBe(503);
  loadBalancer.setPorts([...others, fresh].map(portOf));
  expect(await stopped).toBe(0);
  return fresh;
}

/**
 * Whether `MANDATE_UPGRADE_TEST=1` is set. The long test replaces all processes, and also restarts a process of this release during the
 * upgrade.
 */
const isLong = process.env['MANDATE_UPGRADE_TEST'] !== undefined;
/** Number of orders placed between two process replacements. */
const orders = isLong ? 30 : 10;

describe.skipIf(databaseKind === 'pglite')('an upgrade under load', { timeout: 400_000 }, () => {
  test('of two processes, with a migration, fails no request and loses no order', async () => {
    await using data = await createDataDirectory();
    await using next = await createNextRelease();
    const loadBalancer = await startLoadBalancer(await findFreePort());
    const url = await createMigratedPostgresqlUrl();
    const env = {
      DATABASE_URL: url,
      MANDATE_ISSUER: loadBalancer.url,
      MANDATE_DATA_DIR: data.path,
      MANDATE_SECRET: 'x'.repeat(43),
      MANDATE_RATE_LIMIT: '1000000',
      MANDATE_RATE_LIMIT_IP: '1000000',
      MANDATE_TRUST_PROXY: '127.0.0.1, ::1', // the load balancer, which reuses connections
    };
    const replaced = { ...env, ...stopDelay };
    const [first, second] = [await startServerProcess(isLong ? replaced : env), await startServerProcess(replaced)];
    loadBalancer.setPorts([first, second].map(portOf));
    const browser = await signIn(loadBalancer.url, (await readFirstRunFile(data.path)).customer);
    const { refresh_token: refreshToken = '' } = await obtainTokens(loadBalancer.url, { browser }, ['users.read']);
    const orderClient = await createOrderClient(loadBalancer.url, data.path);

    const load = new Load(orderClient, refreshToken);
    await load.waitForOrders(orders);
    // Two processes of the next release apply its migrations, one of which is not transactional, while this release serves requests.
    const migrations = await Promise.all([1, 2].map(() => runMandateServer(env, ['migrate'], '', next.commandFile)));
    expect(migrations.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const applied = next.migrations.map((name) => `applied  ${name}\n`).join('');
    expect(migrations.map(({ stdout }) => stdout).toSorted()).toEqual(['Nothing is pending.\n', applied]);
    await load.waitForOrders(orders);
    let old = first;
    if (isLong) {
      // a process from this release may be restarted during the upgrade
      old = await replaceProcess(loadBalancer, first, [second], () => startServerProcess(replaced));
      await load.waitForOrders(orders);
    }
    const fresh = await replaceProcess(loadBalancer, second, [old], () => startServerProcess(env, [next.mainFile]));
    await load.waitForOrders(orders); // one process from each release
    const last = isLong ? await replaceProcess(loadBalancer, old, [fresh], () => startServerProcess(env, [next.mainFile])) : old;
    await load.waitForOrders(orders);
    await load.stop();

    expect(load.failures).toEqual([]);
    expect(await countOrders(orderClient)).toBe(load.confirmed.length);
    expect(orderClient.stock - (await readStock(orderClient))).toBe(load.confirmed.length);
    const db = await openDatabaseWithoutMigrating(url);
    const [{ gifts } = { gifts: -1 }] = await db.em
      .fork()
      .execute<{ gifts: number }[]>('select count(*) as gifts from orders where not gift');
    expect(gifts).toBe(load.confirmed.length);
    await db.close();
    for (const one of [fresh, last]) expect(await one.stop()).toBe(0);
    await loadBalancer.close();
    process.stderr.write(`upgrade under load: ${load.requests} requests, 0 failed; ${load.confirmed.length} orders, 0 lost\n`);
  });
});
