import { createHash, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { killProcesses, spawnCommand } from '../../cli/run-command-line.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { KillableServer } from '../../support/server/killable-server.ts';
import { obtainAdministrationToken, killServerProcesses, createDataDirectory } from '../../support/server/server-process.ts';
import { startWebhookReceiver, type DeliveryHandler, type ReceivedDelivery } from '../../support/webhooks/webhook-receiver.ts';
import { placeOrder, createOrderClient, type OrderClient } from '../lifecycle/order-client.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Number of orders; `MANDATE_WEBHOOK_ORDERS=10000` runs a thorough test, which takes a few minutes. */
const orders = Number(process.env['MANDATE_WEBHOOK_ORDERS'] ?? 240);
const kills = 5;
const noRateLimits = { MANDATE_RATE_LIMIT: '1000000', MANDATE_RATE_LIMIT_IP: '1000000' };

afterEach(async () => {
  await killServerProcesses();
  killProcesses();
});

const entity = z.object({ id: z.number() });
async function register(url: string, token: string, receiver: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver, events: ['order.created'] }),
  });
  return entity.parse(await response.json()).id;
}

/** Places an order. Retries with the same reference, which is also the idempotency key, until a server confirms the order. */
async function placeOrderWithRetries(orderClient: OrderClient, token: () => Promise<string>, reference: string): Promise<void> {
  await waitUntil(() =>
    token()
      .then((fresh) => placeOrder({ ...orderClient, token: fresh }, reference))
      .catch(() => undefined),
  );
}

/** Returns a function that returns a valid token, and renews the token before it expires. */
function renewingToken(url: string, directory: string): () => Promise<string> {
  let [currentToken, until]: [Promise<string>, number] = [Promise.resolve(''), 0];
  return () => {
    if (Date.now() > until) {
      until = Date.now() + 200_000;
      currentToken = obtainAdministrationToken(url, directory);
      currentToken.catch(() => (until = 0));
    }
    return currentToken;
  };
}

const databases = databaseKind === 'postgresql' ? [{ kind: 'PostgreSQL', url: createMigratedPostgresqlUrl }] : [];

describe.each(databases)(`webhooks of ${orders} orders on $kind`, { timeout: 60_000 + orders * 200 }, ({ url: freshUrl }) => {
  test(`every event arrives, always with the same ID, although the receiver is unavailable, then unreliable, and the server is killed ${kills} times`, async () => {
    await using directory = await createDataDirectory();
    const [databaseUrl, port, receiverPort] = [await freshUrl(), await findFreePort(), await findFreePort()];
    const killableServer = new KillableServer({
      DATABASE_URL: databaseUrl,
      MANDATE_DATA_DIR: directory.path,
      PORT: String(port),
      ...noRateLimits,
    });
    const url = await killableServer.start();
    const token = renewingToken(url, directory.path);
    const orderClient = await createOrderClient(url, directory.path);
    const endpoint = await register(url, await token(), `http://127.0.0.1:${receiverPort}/hooks`);
    const db = await openDatabaseWithoutMigrating(databaseUrl);

    const waiting = Array.from({ length: orders }, (_, index) => `order ${index + 1}`);
    const placed: string[] = [];
    const placeOrders = async (): Promise<void> => {
      for (let reference = waiting.pop(); reference !== undefined; reference = waiting.pop()) {
        await placeOrderWithRetries(orderClient, token, reference);
        placed.push(reference);
      }
    };
    const buying = Promise.all(Array.from({ length: 8 }, placeOrders));
    const reached = async (share: number): Promise<void> => {
      await waitUntil(() => placed.length >= orders * share, 60_000 + orders * 200);
    };
    const killAndRestart = async (): Promise<void> => {
      await killableServer.kill();
      // no delivery is in flight, so this call only shortens the wait until the killed server's leases expire
      await makeDeliveriesDue(db);
      await killableServer.start();
    };
    // initially, the receiver is unavailable
    await reached(0.3);
    await killAndRestart();
    // then, the receiver is available but unreliable
    const receiver = await startWebhookReceiver(receiverPort);
    const accepted: string[] = [];
    const accept: DeliveryHandler = ({ headers }, res) => {
      accepted.push(headers['webhook-id'] ?? '');
      res.writeHead(204).end();
    };
    receiver.handleDelivery = unreliable(accept);
    for (let killed = 1; killed < kills; killed += 1) {
      await reached(0.3 + killed * 0.12);
      await killAndRestart();
    }
    await buying;
    // finally, the receiver is reliable
    receiver.handleDelivery = accept;
    const countAfterRetries = async () => {
      await makeRetriesDue(db);
      return countDeliveries(db, endpoint);
    };
    await expect.poll(countAfterRetries, { interval: 500, timeout: 60_000 + orders * 60 }).toEqual({ succeeded: orders });
    const { arrived, bodies } = summarizeDeliveries(receiver.deliveries);
    const twice = accepted.length - new Set(accepted).size;
    expect(new Set(accepted)).toEqual(new Set(arrived));
    const written = await db.em.fork().execute<{ seq: number }[]>(`select seq from events where type = 'order.created' order by seq`);
    expect(arrived).toEqual(written.map(({ seq }) => `evt_${seq}`));
    expect(bodies, 'number of bodies').toBe(arrived.length);
    process.stderr.write(
      `${orders} orders, ${kills} kills: ${receiver.deliveries.length} deliveries of ${arrived.length} events; ${twice} were accepted twice, 0 lost\n`,
    );
    await db.close();
    await killableServer.stop();
    await receiver.close();
  });

  test('webhooks listen forwards every event exactly once when the server is killed', async () => {
    await using directory = await createDataDirectory();
    const killableServer = new KillableServer({
      DATABASE_URL: await freshUrl(),
      MANDATE_DATA_DIR: directory.path,
      PORT: String(await findFreePort()),
      ...noRateLimits,
    });
    const url = await killableServer.start();
    const token = renewingToken(url, directory.path);
    const orderClient = await createOrderClient(url, directory.path);
    const receiver = await startWebhookReceiver();
    const home = join(directory.path, 'home');
    const words = ['webhooks', 'listen', '--forward-to', receiver.url, '--events', 'order.created', '--after', '0', '--api-url', url];
    const command = spawnCommand(words, { MANDATE_TOKEN: await token(), MANDATE_CONFIG_DIR: home, HOME: home });
    const place = async (from: number, to: number): Promise<void> => {
      for (let nth = from; nth < to; nth += 1) await placeOrderWithRetries(orderClient, token, `order ${nth}`);
    };
    for (let round = 0; round < 3; round += 1) {
      const placing = place(round * 20, round * 20 + 20);
      await waitUntil(() => receiver.deliveries.length >= round * 20 + 5);
      await killableServer.killAndRestart();
      await placing;
    }
    // events are delivered in sequence, so a duplicate of an earlier event would arrive before the event of this order
    await place(60, 61);
    await waitUntil(() => receiver.deliveries.length >= 61);
    const seen = receiver.deliveries.map(({ body }) => z.object({ id: z.number() }).parse(body).id);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    expect(seen).toHaveLength(61);
    command.child.kill('SIGINT');
    const { exitCode, stderr } = await command.exited;
    expect(stderr).toContain(`Stopped after 61 events; resume with --after ${seen.at(-1)}`);
    expect(stderr).toContain('Reconnected');
    expect(exitCode).toBe(0);
    await killableServer.stop();
    await receiver.close();
  });
});

/** Accepts most deliveries, and fails the rest with an error response, a closed connection or no response at all. */
const unreliable =
  (accept: DeliveryHandler): DeliveryHandler =>
  (received, res) => {
    const outcome = randomInt(1000);
    if (outcome < 650) return accept(received, res);
    if (outcome < 850) return res.writeHead(500).end();
    if (outcome < 997) return res.destroy();
    return undefined;
  };

/** Makes all scheduled retries of webhook deliveries due now. In-flight deliveries are not changed. */
const makeRetriesDue = (db: Database): Promise<unknown> =>
  db.em
    .fork()
    .execute(
      `update webhook_deliveries set next_attempt_at = now() where status = 'pending' and next_attempt_at > now() + interval '31 seconds'`,
    );

/** Makes all pending deliveries due now, including those that a killed server was sending. */
const makeDeliveriesDue = (db: Database): Promise<unknown> =>
  db.em.fork().execute(`update webhook_deliveries set next_attempt_at = now() where status = 'pending'`);

async function countDeliveries(db: Database, endpoint: number): Promise<Record<string, number>> {
  const rows = await db.em
    .fork()
    .execute<{ status: string; count: number }[]>(
      'select status, count(*)::int as count from webhook_deliveries where endpoint_id = ? group by 1',
      [endpoint],
    );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

function summarizeDeliveries(received: readonly ReceivedDelivery[]): { arrived: string[]; bodies: number } {
  const ids = new Set<string>();
  const bodies = new Set<string>();
  for (const { headers, text } of received) {
    const id = headers['webhook-id'] ?? '';
    ids.add(id);
    bodies.add(`${id} ${createHash('sha256').update(text).digest('hex')}`);
  }
  const number = (id: string): number => Number(id.replace('evt_', ''));
  return {
    arrived: [...ids].toSorted((a, b) => number(a) - number(b)),
    bodies: bodies.size,
  };
}
