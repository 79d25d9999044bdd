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

/**
 * One whose answer nobody waits for: within a transaction it goes to PostgreSQL together with the next statement, or with the commit,
 * and what fails of it fails there. Not for one whose failure is looked at.
 */
export function laterStatement(name: string, text: string): (em: Pick<Em, 'getKysely'>, parameters: readonly unknown[]) => Promise<void> {
  const sql = `/*${name} later*/ ${text}`;
  return async (em, parameters) => {
    await em.getKysely().executeQuery(CompiledQuery.raw(sql, [...parameters]));
  };
}
