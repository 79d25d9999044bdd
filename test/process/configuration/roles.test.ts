import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { scrapeMetrics } from '../../support/metrics.ts';
import { killServerProcesses, runServerUntilExit, startServerProcess, createDataDirectory } from '../../support/server/server-process.ts';
import { startWebhookReceiver } from '../../support/webhooks/webhook-receiver.ts';
import { placeOrder, createOrderClient, type OrderClient } from '../lifecycle/order-client.ts';

afterEach(killServerProcesses);

async function post(orderClient: OrderClient, path: string, body: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${orderClient.token}`, 'content-type': 'application/json' };
  const response = await fetch(`${orderClient.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return response.json();
}

const task = z.object({ id: z.number(), status: z.string() });
const readTaskStatus = async (orderClient: OrderClient, id: number): Promise<string> => {
  const response = await fetch(`${orderClient.url}/api/v1/tasks/${id}`, { headers: { authorization: `Bearer ${orderClient.token}` } });
  return task.parse(await response.json()).status;
};

describe.skipIf(databaseKind === 'pglite')('MANDATE_ROLE', { timeout: 300_000 }, () => {
  test('a web process only serves requests, a worker runs the background jobs, and another worker takes over if it is killed', async () => {
    await using data = await createDataDirectory();
    const [url, port, metricsPort] = [await createMigratedPostgresqlUrl(), await findFreePort(), await findFreePort()];
    const env = {
      DATABASE_URL: url,
      MANDATE_DATA_DIR: data.path,
      MANDATE_ISSUER: `http://localhost:${port}`,
      MANDATE_SECRET: 'x'.repeat(43),
    };
    const web = await startServerProcess({ ...env, MANDATE_ROLE: 'web', PORT: String(port), MANDATE_METRICS_PORT: String(metricsPort) });
    const orderClient = await createOrderClient(web.url, data.path);
    const receiver = await startWebhookReceiver();
    receiver.handleDelivery = () => undefined; // the receiver never responds to the first worker
    await post(orderClient, '/webhook-endpoints', { url: receiver.url, events: ['order.created'] });
    await placeOrder(orderClient, 'accepted by web');
    const browser = new HttpBrowser(web.url);
    await browser.submit(await browser.open('/sign-up'), { email: 'ann@example.com' });
    const exported = task.parse(await post(orderClient, '/order-exports', { format: 'csv' }));

    const waiting = async (queue: string): Promise<number> =>
      (await scrapeMetrics(metricsPort)).value('mandate_queue_waiting', { queue }) ?? 0;
    for (const queue of ['events', 'mails', 'tasks']) expect(await waiting(queue), queue).toBeGreaterThan(0);
    expect(receiver.deliveries).toHaveLength(0);

    const first = await startServerProcess({ ...env, MANDATE_ROLE: 'worker' });
    await expect.poll(() => receiver.deliveries.length, { timeout: 60_000 }).toBe(1);
    await expect.poll(() => readTaskStatus(orderClient, exported.id), { timeout: 60_000 }).toBe('succeeded');
    await expect.poll(() => first.output(), { timeout: 60_000 }).toContain('a message that would be sent');
    expect(web.output()).not.toContain('a message that would be sent');
    for (const queue of ['events', 'mails', 'tasks']) await expect.poll(() => waiting(queue), { timeout: 60_000 }).toBe(0);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${first.url}/api/v1/products`)).status).toBe(404);

    await first.kill();
    receiver.handleDelivery = (_, res) => res.writeHead(204).end();
    const second = await startServerProcess({ ...env, MANDATE_ROLE: 'worker' });
    const db = await openDatabaseWithoutMigrating(url);
    // makes the delivery due, as if the first worker's lease had expired
    await db.em.fork().execute(`update webhook_deliveries set next_attempt_at = now() where status = 'pending'`);
    await expect.poll(() => receiver.deliveries.length, { timeout: 60_000 }).toBe(2);
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const delivered = async (): Promise<unknown> => (await db.em.fork().execute('select status from webhook_deliveries'))[0];
    await expect.poll(delivered, { timeout: 60_000 }).toEqual({ status: 'succeeded' });
    await db.close();

    expect(await second.stop()).toBe(0);
    expect(await web.stop()).toBe(0);
    await receiver.close();
  });
});

test('the embedded database supports only the role all', { timeout: 120_000 }, async () => {
  await using data = await createDataDirectory();
  const refused = await runServerUntilExit({ MANDATE_DATA_DIR: data.path, MANDATE_ROLE: 'web' });
  expect(refused.code).toBe(1);
  expect(refused.output).toContain('MANDATE_ROLE must be all without DATABASE_URL');
});
