/**
 * `npm run scale:webhooks`: how soon and how fast events reach 1, 100 and 1,000 endpoints, and what one that never answers does to
 * the others. Prints tables in Markdown. Everything runs on this machine: sender, receivers and PostgreSQL.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { startJobs } from '../../server/jobs/job-runner.ts';
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { openDatabase } from '../../server/schema/open-database.ts';
import type { Database } from '../../server/database/entity-manager/entity-manager.ts';
import { eventJobs } from '../../server/events/jobs.ts';
import { createLog } from '../../server/logging/logger.ts';
import { deriveKeys } from '../../server/crypto/derived-keys.ts';
import { DeliveryWorker } from '../../server/webhooks/delivery/delivery-worker.ts';
import { createWebhookDeliveriesForEvents } from '../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { webhookJobs } from '../../server/webhooks/delivery/webhook-jobs.ts';
import { publicNetworkPolicy } from '../../server/outgoing-http/protected-client.ts';
import { generateWebhookSecret, encryptWebhookSecret } from '../../server/webhooks/endpoints/webhook-signature.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';

const keys = deriveKeys('a secret of the measurement, and of nothing else');
const eventsPerSecond = 40;
const seconds = 15;
const burst = 1_000;

/** Answers 204 at `/n` and never at `/n/silent`; tells when what came. */
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

type Arrival = { readonly at: number; readonly lag: number };

class Bench {
  readonly db: Database;
  readonly arrivals: Arrival[] = [];
  readonly #worker: Worker;
  port = 0;

  constructor(db: Database) {
    this.db = db;
    this.#worker = new Worker(receiver, { eval: true });
    this.#worker.on('message', (raw) => {
      const told = message.parse(raw);
      if ('port' in told) this.port = told.port;
      else this.arrivals.push(told);
    });
  }

  /** Endpoints of as many people; each gets the events of its own. */
  async endpoints(count: number, silent = 0): Promise<void> {
    const em = this.db.em.fork();
    await em.execute('delete from webhook_endpoints');
    await em.execute('delete from events');
    await em.execute(
      `insert into users (name, email) select 'Somebody', 'bench' || n || '@example.com' from generate_series(1, ?) n on conflict do nothing`,
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

  /** Events of everybody in turn, from one transaction. */
  write(count: number, people: number, from = 0): Promise<unknown> {
    return this.db.em.fork().execute(
      `insert into events (type, user_id, subject_type, subject_id, subject_version, data)
       select 'order.created', u.id, 'order', n, 1, '{"id": 1, "status": "pending", "total": 1000, "currency": "EUR", "padding": "${'x'.repeat(800)}"}'
         from generate_series(?::int + 1, ?::int + ?::int) n
         join (select id, row_number() over (order by id) as nth from users order by id limit ?::int) u on u.nth = 1 + n % ?::int`,
      [from, from, count, people, people],
    );
  }

  async arrived(count: number, milliseconds: number): Promise<void> {
    for (const end = Date.now() + milliseconds; this.arrivals.length < count && Date.now() < end;) await sleep(20);
  }

  end = (): Promise<unknown> => this.#worker.terminate();
}

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;

/** A steady stream, then everything at once. */
async function measure(bench: Bench, endpoints: number): Promise<string> {
  await bench.endpoints(endpoints);
  const steady = await stream(bench, endpoints);
  bench.arrivals.length = 0;
  const begun = Date.now();
  await bench.write(burst, endpoints);
  await bench.arrived(burst, 120_000);
  const took = (Math.max(...bench.arrivals.map(({ at }) => at)) - begun) / 1000;
  const rate = Math.round(bench.arrivals.length / took);
  return `| ${endpoints} | ${quantile(steady, 0.5)} | ${quantile(steady, 0.99)} | ${bench.arrivals.length} of ${burst} | ${rate} |`;
}

/** Lags of a steady stream of events over these people, in milliseconds from the commit to the arrival. */
async function stream(bench: Bench, people: number): Promise<number[]> {
  bench.arrivals.length = 0;
  const tick = 50;
  const each = (eventsPerSecond * tick) / 1000;
  for (let n = 0; n < (seconds * 1000) / tick; n += 1) {
    await Promise.all([bench.write(each, people, n * each), sleep(tick)]);
  }
  await sleep(2_000);
  return bench.arrivals.map(({ lag }) => lag);
}

const others = 10;
const rounds = 3;

/** Lags of others' events, in turns without and with an endpoint that never answers. */
async function fairness(bench: Bench): Promise<{ calm: number[]; beside: number[] }> {
  const [calm, beside]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await bench.endpoints(others);
    calm.push(...(await stream(bench, others)));
    await bench.endpoints(others, 1);
    beside.push(...(await stream(bench, others + 1)));
  }
  return { calm, beside };
}

const server = await startPostgresql(await findPostgresql());
try {
  const db = await openDatabase(server.url);
  await migrate(db);
  const log = createLog(false);
  const deliverer = new DeliveryWorker({
    em: db.em,
    log,
    key: keys.webhooks,
    network: publicNetworkPolicy(true),
    notice: { mailKey: keys.mail, canMail: false },
  });
  const background = startJobs([...eventJobs(db, createWebhookDeliveriesForEvents), ...webhookJobs(db, deliverer)], log);
  const bench = new Bench(db);
  while (bench.port === 0) await sleep(10);
  const lines = ['| endpoints | lag p50, ms | lag p99, ms | burst arrived | deliveries/s |', '|---|---|---|---|---|'];
  for (const endpoints of [1, 100, 1_000]) lines.push(await measure(bench, endpoints));
  const { calm, beside } = await fairness(bench);
  const row = (name: string, lags: readonly number[]): string =>
    `| ${name} | ${lags.length} | ${quantile(lags, 0.5)} | ${quantile(lags, 0.99)} |`;
  const change = Math.round((quantile(beside, 0.99) / quantile(calm, 0.99) - 1) * 100);
  lines.push('', '| the other ten endpoints | deliveries | lag p50, ms | lag p99, ms |', '|---|---|---|---|');
  lines.push(row('alone', calm), row('beside one that never answers', beside), '', `p99 changes by ${change} %.`);
  process.stdout.write(`${lines.join('\n')}\n`);
  await background.stop();
  await deliverer.stop();
  await bench.end();
  await db.close();
} finally {
  await server.stop();
}
