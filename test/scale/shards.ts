/**
 * `npm run scale:shards -- 1000000 4`: so many orders in one PostgreSQL database, and the same orders spread over so many by the hash of
 * their customer, as an engine like Citus keeps them. Asks both with the statements of the server, and prints a table in Markdown:
 * what the database of the customer answers alone, and what all of them have to be asked for. All of them are one server on this
 * machine, so this shows what a question costs, and not what more machines would bring.
 */
import { migrate } from '../../server/database/migrate/run-migrations.ts';
import { openDatabase } from '../../server/schema/open-database.ts';
import type { Database, EntityManager } from '../../server/database/entity-manager/entity-manager.ts';
import { findOrderWithoutPermissionCheck } from '../../server/orders/find-order.ts';
import { countOrders, listOrders } from '../../server/orders/list-orders.ts';
import { administer, databaseUrl } from '../support/services/postgresql-databases.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { fillOrders } from './fill-orders.ts';

const pageSize = 20;
const repeats = 200;
const batch = 5_000;

/** Where the customer's rows lie: what `hash(user_id)` would say on every machine alike. */
const shardOf = (userId: number, shards: number): number => userId % shards;

type Place = {
  readonly whole: EntityManager;
  readonly shards: readonly EntityManager[];
  readonly customer: number;
  readonly newest: number;
};
type Question = {
  readonly name: string;
  /** How many databases are asked, of so many. */
  readonly asks: (shards: number) => number;
  readonly whole: (place: Place) => Promise<unknown>;
  readonly spread: (place: Place) => Promise<unknown>;
};

const everybody = { userId: undefined };
const waiting = { ...everybody, status: ['pending', 'paid'] } as const;
const page = (em: EntityManager, filters: Parameters<typeof listOrders>[1]) =>
  listOrders(em, filters, { sort: { by: 'created_at', descending: true }, position: undefined, limit: pageSize });
const own = ({ shards, customer }: Place): EntityManager => {
  const em = shards[shardOf(customer, shards.length)];
  if (!em) throw new Error('there is no such shard');
  return em;
};

/** The newest of all, from the newest of each. */
async function merged({ shards }: Place, filters: Parameters<typeof listOrders>[1]): Promise<unknown> {
  const pages = await Promise.all(shards.map((em) => page(em, filters)));
  return pages
    .flat()
    .toSorted((one, other) => other.id - one.id)
    .slice(0, pageSize);
}

async function sum({ shards }: Place, filters: Parameters<typeof countOrders>[1]): Promise<number> {
  const counts = await Promise.all(shards.map((em) => countOrders(em, filters)));
  return counts.reduce((all, one) => all + one, 0);
}

const alone = (): number => 1;
const all = (shards: number): number => shards;
const questions: readonly Question[] = [
  {
    name: 'a customer: the newest 20 of their orders',
    asks: alone,
    whole: ({ whole, customer }) => page(whole, { userId: customer }),
    spread: (place) => page(own(place), { userId: place.customer }),
  },
  {
    name: 'a customer: how many orders they have',
    asks: alone,
    whole: ({ whole, customer }) => countOrders(whole, { userId: customer }),
    spread: (place) => countOrders(own(place), { userId: place.customer }),
  },
  {
    name: 'one order by its id, of a customer',
    asks: alone,
    whole: ({ whole, newest }) => findOrderWithoutPermissionCheck(whole, newest),
    spread: (place) => findOrderWithoutPermissionCheck(own(place), place.newest),
  },
  {
    name: 'one order by its id, for staff: nobody knows whose it is',
    asks: all,
    whole: ({ whole, newest }) => findOrderWithoutPermissionCheck(whole, newest),
    spread: ({ shards, newest }) => Promise.any(shards.map((em) => findOrderWithoutPermissionCheck(em, newest))),
  },
  {
    name: 'staff: the newest 20 orders',
    asks: all,
    whole: ({ whole }) => page(whole, everybody),
    spread: (place) => merged(place, everybody),
  },
  {
    name: 'staff: the newest 20 that wait',
    asks: all,
    whole: ({ whole }) => page(whole, waiting),
    spread: (place) => merged(place, waiting),
  },
  { name: 'staff: how many wait', asks: all, whole: ({ whole }) => countOrders(whole, waiting), spread: (place) => sum(place, waiting) },
];

async function medianMs(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < repeats; nth += 1) {
    const begun = performance.now();
    await ask();
    times.push(performance.now() - begun);
  }
  return times.toSorted((one, other) => one - other)[repeats / 2] ?? 0;
}

/** Copies the customers to every shard, and the orders of each to its own. */
async function spread(whole: EntityManager, shards: readonly EntityManager[], count: number): Promise<void> {
  const copy = async (table: string, from: number, where: string, to: EntityManager): Promise<void> => {
    const rows = `select json_agg(row) as rows from (select * from ${table} where id between ? and ? and ${where}) row`;
    const [found] = await whole.execute<{ rows: unknown }[]>(rows, [from, from + batch - 1]);
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
  const db = await openDatabase(url, { timeouts: 'none' });
  await migrate(db);
  return db;
}

const [count = 1_000_000, shardCount = 4] = process.argv.slice(2).map(Number);
const server = await startPostgresql(await findPostgresql());
try {
  const names = ['whole', ...Array.from({ length: shardCount }, (_, nth) => `shard_${nth}`)];
  for (const name of names) await administer(server.url, `create database ${name}`);
  const databases: Database[] = [];
  for (const name of names) databases.push(await openMigrated(databaseUrl(server.url, name)));
  const [whole, ...shards] = databases.map(({ em }) => em.fork());
  if (!whole) throw new Error('there is no database');
  const { biggestUserId } = await fillOrders(whole, count, (done) => process.stderr.write(`\r${done.toLocaleString('en')} orders`));
  await spread(whole, shards, count);
  const customer = biggestUserId + 1 + Math.floor(shardCount / 2);
  const [newest] = await page(whole, { userId: customer });
  if (!newest) throw new Error('the customer has no order');
  const place: Place = { whole, shards, customer, newest: newest.id };
  const lines = [`| question | databases asked | one database, ms | ${shardCount} databases, ms |`, '|---|---|---|---|'];
  for (const question of questions) {
    const figures = [];
    for (const ask of [() => question.whole(place), () => question.spread(place)]) figures.push((await medianMs(ask)).toFixed(2));
    lines.push(`| ${question.name} | ${question.asks(shardCount)} of ${shardCount} | ${figures.join(' | ')} |`);
  }
  process.stdout.write(`\n${count.toLocaleString('en')} orders\n\n${lines.join('\n')}\n`);
  for (const db of databases) await db.close();
} finally {
  await server.stop();
}
