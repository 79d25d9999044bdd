import { CompiledQuery } from 'kysely';
import type { EntityManager } from '../entity-manager/entity-manager-type.ts';
import { rowListenersByStatementParameters } from '../connection/create-pipelined-statement-sender.ts';

/**
 * Prepares a statement that runs often. The statement has the parameters `$1`, `$2`, ..., and runs in the request's transaction. The name
 * lets PostgreSQL cache the plan. A statement without a name is planned each time. List the columns explicitly, because a cached plan of
 * `select *` fails when a column is added. If the driver supports streaming and the statement has a name, `onRow` receives each row as soon
 * as it arrives.
 */
export function prepareStatement<Row>(
  name: string | undefined,
  text: string,
): (em: Pick<EntityManager, 'getKysely'>, parameters: readonly unknown[], onRow?: (row: Row) => void) => Promise<Row[]> {
  const sql = name === undefined ? text : `/*${name}*/ ${text}`;
  return async (em, parameters, onRow) => {
    const boundParameters = [...parameters];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same statement gives the same columns
    if (onRow) rowListenersByStatementParameters.set(boundParameters, (row) => onRow(row as Row));
    const { rows } = await em.getKysely().executeQuery<Row>(CompiledQuery.raw(sql, boundParameters));
    return rows;
  };
}

/**
 * Prepares a deferred write. In a transaction, the statement is sent in one message with the next statement or the commit, which also
 * reports a failure of this statement. Do not use a deferred statement if its failure must be handled.
 */
export function prepareDeferredWrite(
  name: string,
  text: string,
): (em: Pick<EntityManager, 'getKysely'>, parameters: readonly unknown[]) => Promise<void> {
  const run = prepareStatement(`${name} later`, text);
  return async (em, parameters) => void (await run(em, parameters));
}
