import { afterAll, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { endServerProcesses } from '../../support/server/server-process.ts';
import { audit } from './audit.ts';
import { Load } from '../traffic/load.ts';
import { PostgresqlStage, startDurablePostgresql, startServers } from '../environments/environment.ts';

afterAll(endServerProcesses);

const onePayment = `select max(id) from payments where status = 'succeeded'`;

const copied =
  'user_id, client_id, status, expires_at, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, reference';

/** What might be lost, doubled or let in, done behind the back of the servers; and what the audit has to say about it. */
const planted: readonly (readonly [sql: string, found: RegExp])[] = [
  [`update orders set reference = null where id = (select max(id) from orders)`, /^lost: order \d+ of the key/],
  [`update payments set status = 'failed', succeeded_at = null where id = (${onePayment})`, /^lost: the payment of order/],
  [`update idempotency_keys set body = replace(body, '"id":', '"id": ')`, /^lost: the answer of/],
  [
    `update product_stock set available = available - 5 where product_id = (select max(product_id) from product_stock)`,
    /^doubled: \d+ units/,
  ],
  [`insert into orders (${copied}) select ${copied} from orders where status = 'pending' order by id limit 1`, /^doubled: two orders/],
  [`delete from oauth_records where model = 'RefreshToken' and consumed_at is null`, /^lost: a refresh token/],
  [`update oauth_records set consumed_at = null where model in ('RefreshToken', 'AuthorizationCode')`, /^let in: a spent/],
];

test.skipIf(databaseKind === 'pglite')('the audit notices whatever is planted', { timeout: 300_000 }, async () => {
  const postgresql = await startDurablePostgresql();
  await using stage = new PostgresqlStage(await startServers(1, () => ({ DATABASE_URL: postgresql.url })), postgresql);
  const load = await Load.begin(stage, { buyers: 2, visitors: 1 });
  while (load.ledger.standing.length === 0 || load.ledger.payments.size === 0) await load.acknowledged(5);
  await load.end();
  for (const [sql] of planted) await stage.sql(sql);
  const { lost, doubled, letIn } = await audit(load, { hurry: true });
  const said = [
    ...lost.map((what) => `lost: ${what}`),
    ...doubled.map((what) => `doubled: ${what}`),
    ...letIn.map((what) => `let in: ${what}`),
  ];
  expect(planted.filter(([, found]) => !said.some((what) => found.test(what))).map(([, found]) => String(found))).toEqual([]);
});
