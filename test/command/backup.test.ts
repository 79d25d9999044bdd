import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyWebhook } from '@mandate/client-sdk/webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../server/schema/open-database.ts';
import { placeOrder, readOrder, shopper, type PlacedOrder, type Shopper } from '../process/lifecycle/shopper.ts';
import { databaseKind, emptyPostgresqlUrl } from '../support/services/database.ts';
import { freePort } from '../support/network/free-port.ts';
import { openFront, type Front } from '../support/network/load-balancer.ts';
import { openLoggedMailbox } from '../support/services/mailbox.ts';
import { refresh, signIn, signUp, tokenResponse, tokensFor, type Person } from '../support/oauth/oauth-flow.ts';
import { mandateServer } from '../support/server/server-command.ts';
import {
  administrationToken,
  endServerProcesses,
  startServer,
  temporaryDataDirectory,
  type ServerProcess,
} from '../support/server/server-process.ts';
import { apiStatus } from '../support/server/with-server.ts';
import { openReceiver, type Receiver } from '../support/network/webhook-receiver.ts';

afterEach(endServerProcesses);

const secret = 'x'.repeat(43);
type Env = Readonly<Record<string, string>>;

/** A shop that moves from one database to another, and stays at its address. */
class Moving {
  readonly #front: Front;
  readonly #common: Env;
  #server: ServerProcess | undefined;

  constructor(front: Front) {
    this.#front = front;
    this.#common = {
      MANDATE_ISSUER: front.url,
      MANDATE_SECRET: secret,
      MANDATE_RATE_LIMIT: '100000',
      MANDATE_RATE_LIMIT_IP: '100000',
      MANDATE_REFRESH_GRACE_SECONDS: '0',
    };
  }

  async live(env: Env): Promise<void> {
    this.#server = await startServer({ ...this.#common, ...env });
    this.#front.lead([Number(new URL(this.#server.url).port)]);
  }
  stop = async (): Promise<unknown> => this.#server?.stop();
  output = (): string => this.#server?.output() ?? '';
  command = (env: Env, ...argv: string[]) => mandateServer({ ...this.#common, ...env }, argv);
}

const orderList = z.object({ data: z.array(z.object({ id: z.number(), total: z.number(), status: z.string() }).passthrough()) });
async function ordersOf(origin: string, token: string): Promise<z.infer<typeof orderList>['data']> {
  const response = await fetch(`${origin}/api/v1/orders?limit=100`, { headers: { authorization: `Bearer ${token}` } });
  return orderList.parse(await response.json()).data;
}

const endpoint = z.object({ secret: z.string() });
async function registerEndpoint({ url, token }: Shopper, receiver: Receiver): Promise<string> {
  const response = await fetch(`${url}/api/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events: ['order.created'] }),
  });
  return endpoint.parse(await response.json()).secret;
}

type Kept = {
  readonly origin: string;
  readonly dataDirectory: string;
  readonly anna: Person;
  readonly who: Shopper;
  readonly refreshToken: string;
  readonly accessToken: string;
  readonly orders: readonly PlacedOrder[];
  readonly receiver: Receiver;
  readonly webhookSecret: string;
};

/** Everything goes on as if nothing had happened. Gives what is kept from here. */
async function expectToGoOn(kept: Kept, reference: string): Promise<Kept> {
  const { origin, anna, receiver, webhookSecret } = kept;
  expect(await apiStatus({ origin }, kept.accessToken), 'the access token of before').toBe(200);
  await signIn(origin, anna);
  const tokens = tokenResponse.parse(await (await refresh(origin, kept.refreshToken)).json());
  expect((await refresh(origin, kept.refreshToken)).status, 'a refresh token is good once').toBe(400);

  const who = { ...kept.who, token: await administrationToken(origin, kept.dataDirectory) };
  for (const order of kept.orders) expect(await readOrder(who, order.id)).toEqual(order);
  expect(await placeOrder(who, kept.orders[0]?.reference ?? ''), 'a request that is sent again').toEqual(kept.orders[0]);
  const sent = receiver.received.length;
  const next = await placeOrder(who, reference);
  expect(next.id).toBeGreaterThan(Math.max(...kept.orders.map(({ id }) => id)));
  await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(sent + 1);
  const delivery = receiver.received.at(-1);
  const event = await verifyWebhook(delivery?.text ?? '', delivery?.headers ?? {}, webhookSecret);
  expect(event).toMatchObject({ type: 'order.created', data: { object: { id: next.id } } });

  // the last one ended a grant: a token came back
  const granted = await tokensFor(origin, { browser: await signIn(origin, anna) }, ['orders.read', 'users.read']);
  expect(tokens.access_token).not.toBe(kept.accessToken);
  return { ...kept, orders: [...kept.orders, next], accessToken: granted.access_token, refreshToken: granted.refresh_token ?? '' };
}

const sums = z.array(z.object({ count: z.number(), total: z.coerce.number(), units: z.coerce.number() }));
/** Orders, what they sum up to, and the units that are left. */
async function sumsOf(url: string): Promise<z.infer<typeof sums>[number] | undefined> {
  const db = await openDatabase(url);
  const rows = await db.em
    .fork()
    .execute(`select count(*) as count, sum(total) as total, (select sum(available) from product_stock) as units from orders`);
  await db.close();
  return sums.parse(rows)[0];
}

describe.skipIf(databaseKind === 'pglite')('who starts small and grows', { timeout: 400_000 }, () => {
  test('takes everything along to PostgreSQL, and back', async () => {
    await using data = await temporaryDataDirectory();
    await using later = await temporaryDataDirectory();
    const [front, receiver, url] = [await openFront(await freePort()), await openReceiver(), await emptyPostgresqlUrl()];
    const shop = new Moving(front);
    const small = { MANDATE_DATA_DIR: data.path };
    const file = join(data.path, 'small.backup');
    await shop.live(small);
    openLoggedMailbox(front.url, shop.output);
    const anna = await signUp(front.url);
    const tokens = await tokensFor(front.url, anna, ['orders.read', 'users.read']);
    const who = await shopper(front.url, data.path);
    const webhookSecret = await registerEndpoint(who, receiver);
    const orders: PlacedOrder[] = [];
    for (let n = 1; n <= 20; n += 1) orders.push(await placeOrder({ ...who, userId: anna.id }, `small ${n}`));
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(20);

    // while others order
    const making = shop.command(small, 'backup', file);
    const done = new AbortController();
    let meanwhile = 0;
    const buying = (async () => {
      for (; !done.signal.aborted; meanwhile += 1) await placeOrder(who, `meanwhile ${meanwhile}`);
    })();
    const made = await making;
    done.abort();
    await buying;
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/: \d+ tables, [\d,]+ rows, [\d.]+ kB, in [\d.]+ s\n$/) });
    expect(meanwhile).toBeGreaterThan(0);
    await expect.poll(async () => (await readdir(data.path)).filter((name) => name.includes('copy'))).toEqual([]);
    expect(await shop.stop()).toBe(0);

    const large = { MANDATE_DATA_DIR: later.path, DATABASE_URL: url };
    const other = await shop.command({ ...large, MANDATE_SECRET: 'y'.repeat(43) }, 'restore', file);
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining('was made with another MANDATE_SECRET: set the one of the server'),
    ]);
    const restored = await shop.command(large, 'restore', file);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('restored and compared in') });
    await shop.live(large);
    const kept: Kept = {
      origin: front.url,
      dataDirectory: data.path,
      anna,
      who: { ...who, userId: anna.id },
      refreshToken: tokens.refresh_token ?? '',
      accessToken: tokens.access_token,
      orders,
      receiver,
      webhookSecret,
    };
    expect(orders.map(({ id }) => id)).toEqual(
      expect.arrayContaining((await ordersOf(front.url, tokens.access_token)).map(({ id }) => id)),
    );
    const grown = await expectToGoOn(kept, 'grown');

    // and back again: from PostgreSQL, which goes on meanwhile as well
    const back = join(data.path, 'large.backup');
    expect(await shop.command(large, 'backup', back)).toMatchObject({ code: 0 });
    await shop.stop();
    const home = { MANDATE_DATA_DIR: join(later.path, 'home') };
    expect(await shop.command(home, 'restore', back)).toMatchObject({ code: 0 });
    const again = await shop.command(home, 'restore', back);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('the database is not empty: restore into a new one')]);
    expect(await sumsOf(join(home.MANDATE_DATA_DIR, 'database'))).toEqual(await sumsOf(url));
    await shop.live(home);
    await expectToGoOn(grown, 'home again');
    await shop.stop();
    await front.close();
    await receiver.close();
  });
});

describe('mandate-server', { timeout: 180_000 }, () => {
  test('makes no backup with another secret than that of the database, nor a database of a file that is none', async () => {
    await using data = await temporaryDataDirectory();
    const [env, file] = [{ MANDATE_DATA_DIR: data.path }, join(data.path, 'file')];
    expect((await mandateServer(env, ['keys', 'rotate'])).code).toBe(0);
    const other = await mandateServer({ ...env, MANDATE_SECRET: secret }, ['backup', file]);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('encrypted with another secret')]);
    expect(existsSync(file)).toBe(false);

    const nowhere = { MANDATE_DATA_DIR: join(data.path, 'nowhere') };
    for (const [argv, why] of [
      [['backup', file], 'there is no secret: set MANDATE_SECRET'],
      [['restore', file], 'there is no secret: set MANDATE_SECRET'],
    ] as const)
      expect(await mandateServer(nowhere, argv)).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
    const known = { ...nowhere, MANDATE_SECRET: secret };
    expect((await mandateServer(known, ['backup', file])).stderr).toContain('there is no database at');
    expect((await mandateServer(known, ['restore', file])).stderr).toContain('cannot be read: is this the right name');
    expect((await mandateServer(known, ['restore', join(data.path, 'secret')])).stderr).toContain('is a damaged backup');
    expect(existsSync(nowhere.MANDATE_DATA_DIR)).toBe(false);
  });
});
