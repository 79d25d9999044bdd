/**
 * `npm run scale:shards -- 1000000 4` stores one million orders in one PostgreSQL database, and the same orders in four databases, sharded
 * by customer as in Citus. The script runs the server's statements on the single database and on the shards, and prints a Markdown table
 * that shows which queries one shard can execute and which queries need all shards. All databases are on one database server on this
 * machine, so the measurements show the cost of a query, not the benefit of additional machines.
 */
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database, EntityManager } from '../../server/database/entity-manager/entity-manager-type.ts';
import { findOrderWithoutPermissionCheck } from '../../server/orders/find-order.ts';
import { countOrders, listOrders } from '../../server/orders/list-orders.sql.ts';
import { runAdminSql, databaseUrlOnServer } from '../support/services/postgresql-databases.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { fillOrders } from './fill-orders.ts';

const pageSize = 20;
const repeats = 200;
const batch = 5_000;

/** Returns the index of a customer's shard, which depends only on the user ID. */
const shardOf = (userId: number, shards: number): number => userId % shards;

type ShardedDatabases = {
  readonly single: EntityManager;
  readonly shards: readonly EntityManager[];
  readonly customer: number;
  readonly newest: number;
};
type ShardQuery = {
  readonly name: string;
  /** Number of databases that are queried. */
  readonly queriedDatabases: (shards: number) => number;
  readonly single: (databases: ShardedDatabases) => Promise<unknown>;
  readonly sharded: (databases: ShardedDatabases) => Promise<unknown>;
};

const allUsers = { requiredClientId: undefined, userId: undefined };
const openOrders = { ...allUsers, status: ['pending', 'paid'] } as const;
const page = (em: EntityManager, filters: Parameters<typeof listOrders>[1]) =>
  listOrders(em, filters, { sort: { by: 'created_at', descending: true }, position: undefined, limit: pageSize });
const customerShard = ({ shards, customer }: ShardedDatabases): EntityManager => {
  const em = shards[shardOf(customer, shards.length)];
  if (!em) throw new Error('the shard does not exist');
  return em;
};

/** Merges the newest orders of all shards. */
async function mergePages({ shards }: ShardedDatabases, filters: Parameters<typeof listOrders>[1]): Promise<unknown> {
  const pages = await Promise.all(shards.map((em) => page(em, filters)));
  return pages
    .flat()
    .toSorted((one, other) => other.id - one.id)
    .slice(0, pageSize);
}

async function sum({ shards }: ShardedDatabases, filters: Parameters<typeof countOrders>[1]): Promise<number> {
  const counts = await Promise.all(shards.map((em) => countOrders(em, filters)));
  return counts.reduce((all, one) => all + one, 0);
}

const oneDatabase = (): number => 1;
const all = (shards: number): number => shards;
const shardQueries: readonly ShardQuery[] = [
  {
    name: "a customer's newest 20 orders",
    queriedDatabases: oneDatabase,
    single: ({ single, customer }) => page(single, { requiredClientId: undefined, userId: customer }),
    sharded: (databases) => page(customerShard(databases), { requiredClientId: undefined, userId: databases.customer }),
  },
  {
    name: "the number of a customer's orders",
    queriedDatabases: oneDatabase,
    single: ({ single, customer }) => countOrders(single, { requiredClientId: undefined, userId: customer }),
    sharded: (databases) => countOrders(customerShard(databases), { requiredClientId: undefined, userId: databases.customer }),
  },
  {
    name: "a customer's order by ID",
    queriedDatabases: oneDatabase,
    single: ({ single, newest }) => findOrderWithoutPermissionCheck(single, newest),
    sharded: (databases) => findOrderWithoutPermissionCheck(customerShard(databases), databases.newest),
  },
  {
    name: 'an order by ID for staff, if the customer is unknown',
    queriedDatabases: all,
    single: ({ single, newest }) => findOrderWithoutPermissionCheck(single, newest),
    sharded: ({ shards, newest }) => Promise.any(shards.map((em) => findOrderWithoutPermissionCheck(em, newest))),
  },
  {
    name: 'the newest 20 orders for staff',
    queriedDatabases: all,
    single: ({ single }) => page(single, allUsers),
    sharded: (databases) => mergePages(databases, allUsers),
  },
  {
    name: 'the newest 20 pending or paid orders for staff',
    queriedDatabases: all,
    single: ({ single }) => page(single, openOrders),
    sharded: (databases) => mergePages(databases, openOrders),
  },
  {
    name: 'the number of pending or paid orders for staff',
    queriedDatabases: all,
    single: ({ single }) => countOrders(single, openOrders),
    sharded: (databases) => sum(databases, openOrders),
  },
];

async function medianMs(query: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < repeats; nth += 1) {
    const startedAt = performance.now();
    await query();
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((one, other) => one - other)[repeats / 2] ?? 0;
}

/** Copies all customers to every shard, and each order to its customer's shard. */
async function distributeOrders(single: EntityManager, shards: readonly EntityManager[], count: number): Promise<void> {
  const copy = async (table: string, from: number, where: string, to: EntityManager): Promise<void> => {
    const rows = `select json_agg(row) as rows from (select * from ${table} where id between ? and ? and ${where}) row`;
    const [found] = await single.execute<{ rows: unknown }[]>(rows, [from, from + batch - 1]);
    if (!found?.rows) return;
    const insert = `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, ?::json)`;
    await to.execute(insert, [typeof found.rows === 'string' ? found.rows : JSON.stringify(found.rows)]);
  };
  for (const [table, most] of [
    ['users', 30_000],
    ['orders', count],
  ] as const) {
    for (let from = 1; from <= most; from += batch) {
      const where = (nth: number): string => (table === 'users' ? 'true' : `user_id % ${shards.length} = ${nth}`);
      await Promise.all(shards.map((to, nth) => copy(table, from, where(nth), to)));
    }
  }
  for (const em of shards) for (const table of ['orders', 'users']) await em.execute(`vacuum analyze ${table}`);
}

async function openMigrated(url: string): Promise<Database> {
  const db = await openDatabaseWithoutMigrating(url, { timeouts: 'none' });
  await migrate(db);
  return db;
}

const [count = 1_000_000, shardCount = 4] = process.argv.slice(2).map(Number);
const server = await startPostgresql(await findPostgresql());
try {
  const names = ['whole', ...Array.from({ length: shardCount }, (_, nth) => `shard_${nth}`)];
  for (const name of names) await runAdminSql(server.url, `create database ${name}`);
  const databases: Database[] = [];
  for (const name of names) databases.push(await openMigrated(databaseUrlOnServer(server.url, name)));
  const [single, ...shards] = databases.map(({ em }) => em.fork());
  if (!single) throw new Error('the database is missing');
  const { largestCustomerId } = await fillOrders(single, count, (done) => process.stderr.write(`\r${done.toLocaleString('en')} orders`));
  await distributeOrders(single, shards, count);
  const customer = largestCustomerId + 1 + Math.floor(shardCount / 2);
  const [newest] = await page(single, { requiredClientId: undefined, userId: customer });
  if (!newest) throw new Error('the customer has no order');
  const target: ShardedDatabases = { single, shards, customer, newest: newest.id };
  const lines = [`| query | databases queried | one database, ms | ${shardCount} databases, ms |`, '|---|---|---|---|'];
  for (const shardQuery of shardQueries) {
    const figures = [];
    for (const query of [() => shardQuery.single(target), () => shardQuery.sharded(target)])
      figures.push((await medianMs(query)).toFixed(2));
    lines.push(`| ${shardQuery.name} | ${shardQuery.queriedDatabases(shardCount)} of ${shardCount} | ${figures.join(' | ')} |`);
  }
  process.stdout.write(`\n${count.toLocaleString('en')} orders\n\n${lines.join('\n')}\n`);
  for (const db of databases) await db.close();
} finally {
  await server.stop();
}
