import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../server/schema/open-database.ts';
import { databaseKind, freshPostgresqlUrl } from '../../support/services/database.ts';
import { freePort } from '../../support/network/free-port.ts';
import { openFront, type Front } from '../../support/network/load-balancer.ts';
import { nextRelease } from '../../support/server/simulated-next-release.ts';
import { refresh, signIn, tokenResponse, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { mandateServer } from '../../support/server/server-command.ts';
import {
  endServerProcesses,
  readFirstRun,
  startServer,
  temporaryDataDirectory,
  type ServerProcess,
} from '../../support/server/server-process.ts';
import { countOrders, placeOrder, readOrder, shopper, stockOf, type PlacedOrder, type Shopper } from './shopper.ts';

afterEach(endServerProcesses);

const portOf = ({ url }: ServerProcess): number => Number(new URL(url).port);

/** Orders, reads and refreshed tokens without a pause, each once: what fails has failed. */
class Load {
  readonly confirmed: PlacedOrder[] = [];
  readonly failures: string[] = [];
  requests = 0;
  #refreshToken: string;
  readonly #who: Shopper;
  readonly #ended: Promise<unknown>;
  readonly #done = new AbortController();

  constructor(who: Shopper, refreshToken: string) {
    this.#who = who;
    this.#refreshToken = refreshToken;
    const buyers = Array.from({ length: 4 }, (_, buyer) =>
      this.#repeat(`buyer ${buyer}`, (nth) => this.#buy(`buyer ${buyer} order ${nth}`)),
    );
    this.#ended = Promise.all([...buyers, this.#repeat('reader', () => countOrders(who)), this.#repeat('refresh', () => this.#refresh())]);
  }

  /** Goes on for so many orders more. */
  async pass(orders: number): Promise<void> {
    const until = this.confirmed.length + orders;
    for (const end = Date.now() + 120_000; this.confirmed.length < until; await sleep(20))
      if (Date.now() > end) throw new Error(`no more orders: ${this.failures.join('\n')}`);
  }

  async end(): Promise<void> {
    this.#done.abort();
    await this.#ended;
  }

  async #repeat(what: string, ask: (nth: number) => Promise<unknown>): Promise<void> {
    for (let nth = 1; !this.#done.signal.aborted; nth += 1) {
      this.requests += 1;
      await ask(nth).catch((error: unknown) => this.failures.push(`${what}: ${String(error)}`));
    }
  }

  async #buy(reference: string): Promise<void> {
    const order = await placeOrder(this.#who, reference);
    this.confirmed.push(order);
    this.requests += 1;
    if (!isDeepStrictEqual(await readOrder(this.#who, order.id), order)) throw new Error(`order ${order.id} is not what was confirmed`);
  }

  async #refresh(): Promise<void> {
    const response = await refresh(this.#who.url, this.#refreshToken);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    this.#refreshToken = tokenResponse.parse(await response.json()).refresh_token ?? '';
  }
}

/** Requests still come to a process that stops, until whoever sends them has seen that it is not ready any more. */
const stopDelay = { MANDATE_STOP_DELAY: '15' };

const readiness = async ({ url }: ServerProcess): Promise<number> => (await fetch(`${url}/readyz`)).status;

/** As Kubernetes does it: the next one is ready, an old one is asked to stop, and gets nothing more to do once it says that it is not. */
async function replace(
  front: Front,
  old: ServerProcess,
  others: readonly ServerProcess[],
  start: () => Promise<ServerProcess>,
): Promise<ServerProcess> {
  const fresh = await start();
  await expect.poll(() => readiness(fresh), { timeout: 30_000 }).toBe(200);
  front.lead([...others, old, fresh].map(portOf));
  const stopped = old.stop();
  await expect.poll(() => readiness(old), { timeout: 30_000 }).toBe(503);
  front.lead([...others, fresh].map(portOf));
  expect(await stopped).toBe(0);
  return fresh;
}

/** `MANDATE_UPGRADE_TEST=1`: every process is replaced, and one of this release started again in between. */
const isLong = process.env['MANDATE_UPGRADE_TEST'] !== undefined;
/** Between one change and the next. */
const orders = isLong ? 30 : 10;

describe.skipIf(databaseKind === 'pglite')('an upgrade under load', { timeout: 400_000 }, () => {
  test('of two processes, one after the other, while the tables change: no request fails, and no order is lost', async () => {
    await using data = await temporaryDataDirectory();
    await using next = await nextRelease();
    const front = await openFront(await freePort());
    const url = await freshPostgresqlUrl();
    const env = {
      DATABASE_URL: url,
      MANDATE_ISSUER: front.url,
      MANDATE_DATA_DIR: data.path,
      MANDATE_SECRET: 'x'.repeat(43),
      MANDATE_RATE_LIMIT: '1000000',
      MANDATE_RATE_LIMIT_IP: '1000000',
      MANDATE_TRUST_PROXY: '127.0.0.1, ::1', // the front, which keeps connections as proxies do
    };
    const replaced = { ...env, ...stopDelay };
    const [first, second] = [await startServer(isLong ? replaced : env), await startServer(replaced)];
    front.lead([first, second].map(portOf));
    const browser = await signIn(front.url, (await readFirstRun(data.path)).customer);
    const { refresh_token: refreshToken = '' } = await tokensFor(front.url, { browser }, ['users.read']);
    const who = await shopper(front.url, data.path);

    const load = new Load(who, refreshToken);
    await load.pass(orders);
    // the tables of the next release, beneath processes of this one
    const migrated = await mandateServer(env, ['migrate'], '', next.command);
    expect(migrated).toEqual({ code: 0, stdout: next.migrations.map((name) => `applied  ${name}\n`).join(''), stderr: '' });
    await load.pass(orders);
    let old = first;
    if (isLong) {
      // a process of this release may have to be started again meanwhile
      old = await replace(front, first, [second], () => startServer(replaced));
      await load.pass(orders);
    }
    const fresh = await replace(front, second, [old], () => startServer(env, [next.main]));
    await load.pass(orders); // one of each
    const last = isLong ? await replace(front, old, [fresh], () => startServer(env, [next.main])) : old;
    await load.pass(orders);
    await load.end();

    expect(load.failures).toEqual([]);
    expect(await countOrders(who)).toBe(load.confirmed.length);
    expect(who.stock - (await stockOf(who))).toBe(load.confirmed.length);
    const db = await openDatabase(url);
    const [{ gifts } = { gifts: -1 }] = await db.em
      .fork()
      .execute<{ gifts: number }[]>('select count(*) as gifts from orders where not gift');
    expect(gifts).toBe(load.confirmed.length);
    await db.close();
    for (const one of [fresh, last]) expect(await one.stop()).toBe(0);
    await front.close();
    process.stderr.write(`upgrade under load: ${load.requests} requests, 0 failed; ${load.confirmed.length} orders, 0 lost\n`);
  });
});
