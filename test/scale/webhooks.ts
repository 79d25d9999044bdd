/**
 * `npm run scale:webhooks` measures the latency and throughput of deliveries to 1, 100 and 1,000 endpoints, and the effect of an
 * unresponsive endpoint on others. The command prints Markdown tables. Sender, receivers and PostgreSQL run on this machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { startJobs } from '../../server/jobs/job-runner.ts';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { createEventSequencingAndCleanupJobs } from '../../server/events/event-sequencing-and-cleanup-jobs.ts';
import { createLogger } from '../../server/logging/logger.ts';
import { deriveKeys } from '../../server/crypto/derived-keys-and-server-secret.ts';
import { DeliveryWorker } from '../../server/webhooks/delivery/delivery-worker.ts';
import { createWebhookDeliveriesForEvents } from '../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { createWebhookDeliveryJobs } from '../../server/webhooks/delivery/webhook-delivery-jobs.ts';
import { createPublicAddressesOnlyNetworkPolicy } from '../../server/outgoing-http/ssrf-protected-connection.ts';
import { generateWebhookSecret, encryptWebhookSecret } from '../../server/webhooks/endpoints/webhook-secret-and-signature.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';

const keys = deriveKeys('a secret that only this measurement uses');
const eventsPerSecond = 40;
const seconds = 15;
const burst = 1_000;

/**
 * Program for a worker that responds with 204 at `/n` and never responds at `/n/silent`. The worker reports the arrival time of each
 * delivery.
 */
const receiver = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:http').createServer((req, res) => {
    let text = '';
    req.on('data', (chunk) => (text += chunk));
    req.on('end', () => {
      const at = Date.now();
      if (req.url.endsWith('/silent')) return;
      res.writeHead(204).end();
      parentPort.postMessage({ id: JSON.parse(text).id, at, lag: at - Date.parse(JSON.parse(text).timestamp) });
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));
`;
const message = z.union([z.object({ port: z.number() }), z.object({ id: z.number(), at: z.number(), lag: z.number() })]);

type Delivery = { readonly at: number; readonly lag: number };

class WebhookBenchmark {
  readonly db: Database;
  readonly deliveries: Delivery[] = [];
  readonly #worker: Worker;
  port = 0;

  constructor(db: Database) {
    this.db = db;
    this.#worker = new Worker(receiver, { eval: true });
    this.#worker.on('message', (raw) => {
      const parsedMessage = message.parse(raw);
      if ('port' in parsedMessage) this.port = parsedMessage.port;
      else this.deliveries.push(parsedMessage);
    });
  }

  /** Creates one endpoint for each of `count` users. Each endpoint receives its user's events. */
  async endpoints(count: number, silent = 0): Promise<void> {
    const em = this.db.em.fork();
    await em.execute('delete from webhook_endpoints');
    await em.execute('delete from events');
    await em.execute(
      `insert into users (name, email) select 'User', 'bench' || n || '@example.com' from generate_series(1, ?) n on conflict do nothing`,
      [count + silent],
    );
    await em.execute(
      `insert into webhook_endpoints (authority, client_id, user_id, scopes, url, events, sealed_secret)
       select 'person', 'bench', id, '{orders.read}', 'http://127.0.0.1:${this.port}/' || row_number() over (order by id) || case when row_number() over (order by id) > ${count} then '/silent' else '' end, '{order.created}', ?
         from users order by id limit ?`,
      [encryptWebhookSecret(generateWebhookSecret(), keys.webhooks), count + silent],
    );
    await em.execute('analyze');
  }

  /** Inserts `count` events in one transaction, assigned to the users in rotation. */
  write(count: number, userCount: number, from = 0): Promise<unknown> {
    return this.db.em.fork().execute(
      `insert into events (type, user_id, subject_type, subject_id, subject_version, data)
       select 'order.created', u.id, 'order', n, 1, '{"id": 1, "status": "pending", "total": 1000, "currency": "EUR", "padding": "${'x'.repeat(800)}"}'
         from generate_series(?::int + 1, ?::int + ?::int) n
         join (select id, row_number() over (order by id) as nth from users order by id limit ?::int) u on u.nth = 1 + n % ?::int`,
      [from, from, count, userCount, userCount],
    );
  }

  async waitForDeliveries(count: number, milliseconds: number): Promise<void> {
    for (const stop = Date.now() + milliseconds; this.deliveries.length < count && Date.now() < stop;) await sleep(20);
  }

  stop = (): Promise<unknown> => this.#worker.terminate();
}

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;

/** Measures a steady stream of events, and then a burst. */
async function measure(benchmark: WebhookBenchmark, endpoints: number): Promise<string> {
  await benchmark.endpoints(endpoints);
  const steady = await measureStream(benchmark, endpoints);
  benchmark.deliveries.length = 0;
  const startedAt = Date.now();
  await benchmark.write(burst, endpoints);
  await benchmark.waitForDeliveries(burst, 120_000);
  const took = (Math.max(...benchmark.deliveries.map(({ at }) => at)) - startedAt) / 1000;
  const rate = Math.round(benchmark.deliveries.length / took);
  return `| ${endpoints} | ${quantile(steady, 0.5)} | ${quantile(steady, 0.99)} | ${benchmark.deliveries.length} of ${burst} | ${rate} |`;
}

/** Returns the delays from commit to delivery for a steady stream of events, in milliseconds. */
async function measureStream(benchmark: WebhookBenchmark, userCount: number): Promise<number[]> {
  benchmark.deliveries.length = 0;
  const tick = 50;
  const each = (eventsPerSecond * tick) / 1000;
  for (let n = 0; n < (seconds * 1000) / tick; n += 1) {
    await Promise.all([benchmark.write(each, userCount, n * each), sleep(tick)]);
  }
  await sleep(2_000);
  return benchmark.deliveries.map(({ lag }) => lag);
}

const others = 10;
const rounds = 3;

/** Measures the delivery delays at other endpoints, alternately without and with an unresponsive endpoint. */
async function measureFairness(benchmark: WebhookBenchmark): Promise<{ withoutSilentEndpoint: number[]; withSilentEndpoint: number[] }> {
  const [withoutSilentEndpoint, withSilentEndpoint]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await benchmark.endpoints(others);
    withoutSilentEndpoint.push(...(await measureStream(benchmark, others)));
    await benchmark.endpoints(others, 1);
    withSilentEndpoint.push(...(await measureStream(benchmark, others + 1)));
  }
  return { withoutSilentEndpoint, withSilentEndpoint };
}

const server = await startPostgresql(await findPostgresql());
try {
  const db = await openDatabaseWithoutMigrating(server.url);
  await migrate(db);
  const log = createLogger(false);
  const deliverer = new DeliveryWorker({
    em: db.em,
    log,
    key: keys.webhooks,
    network: createPublicAddressesOnlyNetworkPolicy(true),
    notice: { mailKey: keys.mail, issuer: 'http://localhost', canMail: false },
  });
  const background = startJobs(
    [...createEventSequencingAndCleanupJobs(db, createWebhookDeliveriesForEvents), ...createWebhookDeliveryJobs(db, deliverer)],
    log,
  );
  const benchmark = new WebhookBenchmark(db);
  while (benchmark.port === 0) await sleep(10);
  const lines = ['| endpoints | lag p50, ms | lag p99, ms | burst delivered | deliveries/s |', '|---|---|---|---|---|'];
  for (const endpoints of [1, 100, 1_000]) lines.push(await measure(benchmark, endpoints));
  const { withoutSilentEndpoint, withSilentEndpoint } = await measureFairness(benchmark);
  const row = (name: string, lags: readonly number[]): string =>
    `| ${name} | ${lags.length} | ${quantile(lags, 0.5)} | ${quantile(lags, 0.99)} |`;
  const change = Math.round((quantile(withSilentEndpoint, 0.99) / quantile(withoutSilentEndpoint, 0.99) - 1) * 100);
  lines.push('', '| the other ten endpoints | deliveries | lag p50, ms | lag p99, ms |', '|---|---|---|---|');
  lines.push(
    row('without an unresponsive endpoint', withoutSilentEndpoint),
    row('with an unresponsive endpoint', withSilentEndpoint),
    '',
    `p99 changes by ${change} %.`,
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  await background.stop();
  await deliverer.stop();
  await benchmark.stop();
  await db.close();
} finally {
  await server.stop();
}
