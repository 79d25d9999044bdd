import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyWebhook } from '@mandate/client-sdk/webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import { placeOrder, readOrder, createOrderClient, type PlacedOrder, type OrderClient } from '../process/lifecycle/order-client.ts';
import { databaseKind, createEmptyPostgresqlUrl } from '../support/services/database.ts';
import { findFreePort } from '../support/network/free-port.ts';
import { startLoadBalancer, type LoadBalancer } from '../support/network/load-balancer.ts';
import { openLoggedMailbox } from '../support/services/mailbox.ts';
import { sendRefreshRequest, signIn, signUp, tokenResponseSchema, obtainTokens, type TestUser } from '../support/oauth/oauth-flow.ts';
import { runMandateServer } from '../support/server/server-command.ts';
import {
  obtainAdministrationToken,
  killServerProcesses,
  startServerProcess,
  createDataDirectory,
  type ServerProcess,
} from '../support/server/server-process.ts';
import { fetchApiStatus } from '../support/server/use-server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhooks/webhook-receiver.ts';

afterEach(killServerProcesses);

const secret = 'x'.repeat(43);
type Env = Readonly<Record<string, string>>;

/** A server that keeps its URL when it moves to a different database. */
class MovableServer {
  readonly #loadBalancer: LoadBalancer;
  readonly #common: Env;
  #server: ServerProcess | undefined;

  constructor(loadBalancer: LoadBalancer) {
    this.#loadBalancer = loadBalancer;
    this.#common = {
      MANDATE_ISSUER: loadBalancer.url,
      MANDATE_SECRET: secret,
      MANDATE_RATE_LIMIT: '100000',
      MANDATE_RATE_LIMIT_IP: '100000',
      MANDATE_REFRESH_GRACE_SECONDS: '0',
    };
  }

  async start(env: Env): Promise<void> {
    this.#server = await startServerProcess({ ...this.#common, ...env });
    this.#loadBalancer.setPorts([Number(new URL(this.#server.url).port)]);
  }
  stop = async (): Promise<unknown> => this.#server?.stop();
  output = (): string => this.#server?.output() ?? '';
  command = (env: Env, ...argv: string[]) => runMandateServer({ ...this.#common, ...env }, argv);
}

const orderList = z.object({ data: z.array(z.object({ id: z.number(), total: z.number(), status: z.string() }).passthrough()) });
async function ordersOf(origin: string, token: string): Promise<z.infer<typeof orderList>['data']> {
  const response = await fetch(`${origin}/api/v1/orders?limit=100`, { headers: { authorization: `Bearer ${token}` } });
  return orderList.parse(await response.json()).data;
}

const endpoint = z.object({ secret: z.string() });
async function registerEndpoint({ url, token }: OrderClient, receiver: WebhookReceiver): Promise<string> {
  const response = await fetch(`${url}/api/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events: ['order.created'] }),
  });
  return endpoint.parse(await response.json()).secret;
}

type SavedState = {
  readonly origin: string;
  readonly dataDirectory: string;
  readonly anna: TestUser;
  readonly shopperSession: OrderClient;
  readonly refreshToken: string;
  readonly accessToken: string;
  readonly orders: readonly PlacedOrder[];
  readonly receiver: WebhookReceiver;
  readonly webhookSecret: string;
};

/** Expects that tokens, orders, idempotency keys and webhooks still work after the move. Returns the new state. */
async function expectUnchangedService(saved: SavedState, reference: string): Promise<SavedState> {
  const { origin, anna, receiver, webhookSecret } = saved;
  expect(await fetchApiStatus({ origin }, saved.accessToken), 'the access token from before the move').toBe(200);
  await signIn(origin, anna);
  const tokens = tokenResponseSchema.parse(await (await sendRefreshRequest(origin, saved.refreshToken)).json());
  expect((await sendRefreshRequest(origin, saved.refreshToken)).status, 'a refresh token is valid once').toBe(400);

  const shopperSession = { ...saved.shopperSession, token: await obtainAdministrationToken(origin, saved.dataDirectory) };
  for (const order of saved.orders) expect(await readOrder(shopperSession, order.id)).toEqual(order);
  expect(await placeOrder(shopperSession, saved.orders[0]?.reference ?? ''), 'a replayed request').toEqual(saved.orders[0]);
  const sent = receiver.deliveries.length;
  const next = await placeOrder(shopperSession, reference);
  expect(next.id).toBeGreaterThan(Math.max(...saved.orders.map(({ id }) => id)));
  await expect.poll(() => receiver.deliveries.length, { timeout: 30_000 }).toBe(sent + 1);
  const delivery = receiver.deliveries.at(-1);
  const event = await verifyWebhook(delivery?.text ?? '', delivery?.headers ?? {}, webhookSecret);
  expect(event).toMatchObject({ type: 'order.created', data: { object: { id: next.id } } });

  // obtains a new grant, because reuse of the refresh token has revoked the old one
  const granted = await obtainTokens(origin, { browser: await signIn(origin, anna) }, ['orders.read', 'users.read']);
  expect(tokens.access_token).not.toBe(saved.accessToken);
  return { ...saved, orders: [...saved.orders, next], accessToken: granted.access_token, refreshToken: granted.refresh_token ?? '' };
}

const sums = z.array(z.object({ count: z.number(), total: z.coerce.number(), units: z.coerce.number() }));
/** Reads the order count, the sum of all order totals and the number of units in stock. */
async function readSums(url: string): Promise<z.infer<typeof sums>[number] | undefined> {
  const db = await openDatabaseWithoutMigrating(url);
  const rows = await db.em
    .fork()
    .execute(`select count(*) as count, sum(total) as total, (select sum(available) from product_stock) as units from orders`);
  await db.close();
  return sums.parse(rows)[0];
}

describe.skipIf(databaseKind === 'pglite')('an installation that migrates between databases', { timeout: 400_000 }, () => {
  test('keeps all data when it moves from the embedded database to PostgreSQL and back', async () => {
    await using data = await createDataDirectory();
    await using newData = await createDataDirectory();
    const [loadBalancer, receiver, url] = [
      await startLoadBalancer(await findFreePort()),
      await startWebhookReceiver(),
      await createEmptyPostgresqlUrl(),
    ];
    const server = new MovableServer(loadBalancer);
    const embeddedEnv = { MANDATE_DATA_DIR: data.path };
    const file = join(data.path, 'small.backup');
    await server.start(embeddedEnv);
    openLoggedMailbox(loadBalancer.url, server.output);
    const anna = await signUp(loadBalancer.url);
    const tokens = await obtainTokens(loadBalancer.url, anna, ['orders.read', 'users.read']);
    const shopperSession = await createOrderClient(loadBalancer.url, data.path);
    const webhookSecret = await registerEndpoint(shopperSession, receiver);
    const orders: PlacedOrder[] = [];
    for (let n = 1; n <= 20; n += 1) orders.push(await placeOrder({ ...shopperSession, userId: anna.id }, `small ${n}`));
    await expect.poll(() => receiver.deliveries.length, { timeout: 30_000 }).toBe(20);

    // the backup runs while customers place orders
    const backupRunning = server.command(embeddedEnv, 'backup', file);
    const done = new AbortController();
    let concurrentOrders = 0;
    const placingOrders = (async () => {
      for (; !done.signal.aborted; concurrentOrders += 1) await placeOrder(shopperSession, `meanwhile ${concurrentOrders}`);
    })();
    const backup = await backupRunning;
    done.abort();
    await placingOrders;
    expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/: \d+ tables, [\d,]+ rows, [\d.]+ kB, in [\d.]+ s\n$/) });
    expect(backup.stderr).toMatch(/^rows: \d+\n/m);
    expect(concurrentOrders).toBeGreaterThan(0);
    await expect.poll(async () => (await readdir(data.path)).filter((name) => name.includes('copy'))).toEqual([]);
    expect(await server.stop()).toBe(0);

    const postgresqlEnv = { MANDATE_DATA_DIR: newData.path, DATABASE_URL: url };
    const wrongSecret = await server.command({ ...postgresqlEnv, MANDATE_SECRET: 'y'.repeat(43) }, 'restore', file);
    expect([wrongSecret.code, wrongSecret.stderr]).toEqual([
      1,
      expect.stringContaining('was created with another MANDATE_SECRET: set the secret of the server'),
    ]);
    const restored = await server.command(postgresqlEnv, 'restore', file);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('restored and compared in') });
    expect(restored.stderr).toMatch(/^check: (\d+)\nrestore: \1\ncompare: \d+\n/);
    await server.start(postgresqlEnv);
    const saved: SavedState = {
      origin: loadBalancer.url,
      dataDirectory: data.path,
      anna,
      shopperSession: { ...shopperSession, userId: anna.id },
      refreshToken: tokens.refresh_token ?? '',
      accessToken: tokens.access_token,
      orders,
      receiver,
      webhookSecret,
    };
    expect(orders.map(({ id }) => id)).toEqual(
      expect.arrayContaining((await ordersOf(loadBalancer.url, tokens.access_token)).map(({ id }) => id)),
    );
    const afterFirstMove = await expectUnchangedService(saved, 'grown');

    // move back to the embedded database, with a backup of the running PostgreSQL server
    const secondBackup = join(data.path, 'large.backup');
    expect(await server.command(postgresqlEnv, 'backup', secondBackup)).toMatchObject({ code: 0 });
    await server.stop();
    const restoredEnv = { MANDATE_DATA_DIR: join(newData.path, 'home') };
    expect(await server.command(restoredEnv, 'restore', secondBackup)).toMatchObject({ code: 0 });
    const secondRestore = await server.command(restoredEnv, 'restore', secondBackup);
    expect([secondRestore.code, secondRestore.stderr]).toEqual([
      1,
      expect.stringContaining('the database is not empty: restore into a new one'),
    ]);
    expect(await readSums(join(restoredEnv.MANDATE_DATA_DIR, 'database'))).toEqual(await readSums(url));
    await server.start(restoredEnv);
    await expectUnchangedService(afterFirstMove, 'home again');
    await server.stop();
    await loadBalancer.close();
    await receiver.close();
  });
});

describe('mandate-server', { timeout: 180_000 }, () => {
  test('rejects backups with a different secret and restores of invalid files', async () => {
    await using data = await createDataDirectory();
    const [env, file] = [{ MANDATE_DATA_DIR: data.path }, join(data.path, 'file')];
    expect((await runMandateServer(env, ['keys', 'rotate'])).code).toBe(0);
    const wrongSecret = await runMandateServer({ ...env, MANDATE_SECRET: secret }, ['backup', file]);
    expect([wrongSecret.code, wrongSecret.stderr]).toEqual([1, expect.stringContaining('encrypted with another secret')]);
    expect(existsSync(file)).toBe(false);

    const missingEnv = { MANDATE_DATA_DIR: join(data.path, 'nowhere') };
    for (const [argv, reason] of [
      [['backup', file], 'there is no secret: set MANDATE_SECRET'],
      [['restore', file], 'there is no secret: set MANDATE_SECRET'],
    ] as const)
      expect(await runMandateServer(missingEnv, argv)).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) });
    const envWithSecret = { ...missingEnv, MANDATE_SECRET: secret };
    expect((await runMandateServer(envWithSecret, ['backup', file])).stderr).toContain('there is no database at');
    expect((await runMandateServer(envWithSecret, ['restore', file])).stderr).toContain('cannot be read: is the name correct');
    expect((await runMandateServer(envWithSecret, ['restore', join(data.path, 'secret')])).stderr).toContain('is a damaged backup');
    expect(existsSync(missingEnv.MANDATE_DATA_DIR)).toBe(false);
  });
});
