import { createHash } from 'node:crypto';
import { TransactionContext } from '@mikro-orm/sql';
import { CompiledQuery, type RawBuilder } from 'kysely';
import { outsideRequests } from './gathered-statement.ts';
import type { Em } from './orm.ts';

/** So many shapes of queries have a plan kept for them; there are a few dozen, unless somebody builds them of what callers send. */
const namesMax = 500;
/** The text of each with its name in front. */
const names = new Map<string, string>();

/** Shapes of queries that are put together at run time are parsed and planned once per connection, as statements are. */
function named(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  if (names.size >= namesMax) return sql;
  const withName = `/*q_${createHash('sha256').update(sql).digest('hex').slice(0, 16)}*/ ${sql}`;
  names.set(sql, withName);
  return withName;
}

type Rows = Promise<readonly unknown[]>;
type Asked = { readonly running: Map<string, Rows>; readonly waiting: Map<string, Rows> };
const asked = new WeakMap<object, Asked>();

const endOfTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * The rows of a query put together at run time. The same query with the same parameters, asked by several requests before it has
 * begun, runs once for all of them; one that arrives later waits for the next run, so that nobody sees less than was there when
 * they asked. Whoever may see what belongs into the query, therefore, and nobody changes a row.
 */
export async function rowsOf<Row>(em: Em, query: RawBuilder<Row>): Promise<readonly Row[]> {
  const { sql, parameters } = query.compile(em.getKysely());
  const run = async (): Promise<readonly Row[]> =>
    (await em.getKysely().executeQuery<Row>(CompiledQuery.raw(named(sql), [...parameters]))).rows;
  if (TransactionContext.getEntityManager()?.isInTransaction()) return run();
  const connection = em.getConnection();
  const queries = asked.get(connection) ?? { running: new Map<string, Rows>(), waiting: new Map<string, Rows>() };
  asked.set(connection, queries);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same text gives the same columns
  return (await together(queries, JSON.stringify([sql, parameters]), run)) as readonly Row[];
}

function together({ running, waiting }: Asked, key: string, run: () => Rows): Rows {
  const begin = async (): Rows => {
    await (running.get(key)?.catch(() => undefined) ?? endOfTurn());
    waiting.delete(key);
    const rows = run();
    running.set(key, rows);
    try {
      return await rows;
    } finally {
      if (running.get(key) === rows) running.delete(key);
    }
  };
  const rows = waiting.get(key) ?? outsideRequests(begin);
  waiting.set(key, rows);
  return rows;
}
