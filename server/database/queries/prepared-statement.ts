import { CompiledQuery } from 'kysely';
import type { Em } from '../entity-manager/entity-manager.ts';
import { heading, listener } from '../connection/pipelined-queries.ts';

/**
 * A statement that runs often: its `$1`, `$2`, ... are bound, its name lets PostgreSQL keep the plan, and it joins
 * the transaction of the request; without a name it is planned each time. Name the columns: a kept plan of `select *` breaks when a column is added.
 * Rows that come before the others are told to `tell` at once, where the database does that and the statement has a name.
 */
export function statement<Row>(
  name: string | undefined,
  text: string,
): (em: Pick<Em, 'getKysely'>, parameters: readonly unknown[], tell?: (row: Row) => void) => Promise<Row[]> {
  const sql = name === undefined ? text : `/*${name}*/ ${text}`;
  return async (em, parameters, tell) => {
    const bound = [...parameters];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same statement gives the same columns
    if (tell) listener.set(bound, (row) => tell(row as Row));
    const { rows } = await em.getKysely().executeQuery<Row>(CompiledQuery.raw(sql, bound));
    return rows;
  };
}

/** The name of a statement of `statement`, by its SQL text. */
export const statementName = (sql: string): string | undefined => heading.exec(sql)?.[1];

/**
 * One whose answer nobody waits for: within a transaction it goes to PostgreSQL together with the next statement, or with the commit,
 * and what fails of it fails there. Not for one whose failure is looked at.
 */
export function laterStatement(name: string, text: string): (em: Pick<Em, 'getKysely'>, parameters: readonly unknown[]) => Promise<void> {
  const run = statement(`${name} later`, text);
  return async (em, parameters) => void (await run(em, parameters));
}
