import { afterAll, expect, test } from 'vitest';
import { databaseKind } from '../../support/services/database.ts';
import { killServerProcesses } from '../../support/server/server-process.ts';
import { audit } from './audit.ts';
import { Load } from '../traffic/load.ts';
import { PostgresqlEnvironment, startDurablePostgresql, startServers } from '../environments/environment.ts';

afterAll(killServerProcesses);

const latestPaymentSql = `select max(id) from payments where status = 'succeeded'`;

const copiedColumns =
  'user_id, client_id, status, expires_at, currency, subtotal, shipping_total, tax_total, total, item_count, delivery, reference';

/** Violations that the test writes directly to the database, each with the message that the audit must report. */
const plantedViolations: readonly (readonly [sql: string, found: RegExp])[] = [
  [`update orders set reference = null where id = (select max(id) from orders)`, /^lost: order \d+ with the key/],
  [`update payments set status = 'failed', succeeded_at = null where id = (${latestPaymentSql})`, /^lost: the payment of order/],
  [`update idempotency_keys set body = replace(body, '"id":', '"id": ')`, /^lost: the response of/],
  [
    `update product_stock set available = available - 5 where product_id = (select max(product_id) from product_stock)`,
    /^duplicated: \d+ units/,
  ],
  [
    `insert into orders (${copiedColumns}) select ${copiedColumns} from orders where status = 'pending' order by id limit 1`,
    /^duplicated: two orders/,
  ],
  [`delete from oauth_records where model = 'RefreshToken' and consumed_at is null`, /^lost: a refresh token/],
  [`update oauth_records set consumed_at = null where model in ('RefreshToken', 'AuthorizationCode')`, /^wrongly accepted: a used/],
];

test.skipIf(databaseKind === 'pglite')('the audit reports every planted violation', { timeout: 300_000 }, async () => {
  const postgresql = await startDurablePostgresql();
  await using environment = new PostgresqlEnvironment(await startServers(1, () => ({ DATABASE_URL: postgresql.url })), postgresql);
  const load = await Load.start(environment, { shoppers: 2, users: 1 });
  while (load.ledger.unusedRefreshTokens.length === 0 || load.ledger.payments.size === 0) await load.waitForWrites(5);
  await load.stop();
  for (const [sql] of plantedViolations) await environment.sql(sql);
  const { lost, duplicated, wronglyAccepted } = await audit(load, { expireLeases: true });
  const reported = [
    ...lost.map((violation) => `lost: ${violation}`),
    ...duplicated.map((violation) => `duplicated: ${violation}`),
    ...wronglyAccepted.map((violation) => `wrongly accepted: ${violation}`),
  ];
  const unreported = plantedViolations.filter(([, expected]) => !reported.some((violation) => expected.test(violation)));
  expect(unreported.map(([, expected]) => String(expected))).toEqual([]);
});
