import { CompiledQuery } from 'kysely';
import type { Em } from './orm.ts';

/**
 * A statement that runs often: its `$1`, `$2`, ... are bound, its name lets PostgreSQL keep the plan, and it joins
 * the transaction of the request; without a name it is planned each time. Name the columns: a kept plan of `select *` breaks when a column is added.
 */
export function statement<Row>(
  name: string | undefined,
  text: string,
): (em: Pick<Em, 'getKysely'>, parameters: readonly unknown[]) => Promise<Row[]> {
  const sql = name === undefined ? text : `/*${name}*/ ${text}`;
  return async (em, parameters) => {
    const { rows } = await em.getKysely().executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
    return rows;
  };
}
