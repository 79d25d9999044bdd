import { TransactionContext } from '@mikro-orm/sql';
import type { EntityManager } from '../entity-manager/entity-manager-type.ts';
import { type BatchResult, type BatchLimits, type StatementParameters, BatchLoader } from './batch-loader.ts';
import { prepareStatement } from './prepared-statement.ts';

/** Limits for cheap lookups. At most two queries run concurrently, and the number of lookups per query grows with the load. */
const sharedBatch: BatchLimits = { maxBatchSize: 100, maxConcurrentBatches: 2 };
/** Limits for potentially slow lookups. These lookups are not batched, so that no caller waits for another caller's lookup. */
const noBatch: BatchLimits = { maxBatchSize: 1, maxConcurrentBatches: 10 };

type RunBatched<Result> = (em: EntityManager, parameters: StatementParameters) => Promise<Result>;

/** A function that looks up at most one row, and the definition of its statement. */
export type BatchedLookup<Row> = RunBatched<Row | undefined> & { readonly definition: LookupDefinition };
type LookupDefinition = { readonly name: string; readonly types: readonly string[]; readonly selectJsonSql: string };

/**
 * Prepares a read that is batched with others by `BatchLoader`. Within a transaction, the read is not batched and runs in that transaction.
 * @param types PostgreSQL types of `$1`, `$2`, ...
 * @param selectSql selects one JSON value, which is much cheaper to parse than columns; numbers in it must not exceed 2^53
 */
function prepareBatched<Result>(
  name: string | undefined,
  types: readonly string[],
  selectSql: string,
  limits: BatchLimits,
): RunBatched<Result | undefined> {
  const runStatement = prepareStatement<BatchResult<Result>>(
    name,
    `select asked.n, found.answer from ${unnestParameters(types)} cross join lateral (${selectSql.replaceAll(/\$(\d+)/g, 'asked.p$1')}) found (answer)`,
  );
  const fetchBatch = (
    em: EntityManager,
    parameterSets: readonly StatementParameters[],
    onResult?: (answer: BatchResult<Result>) => void,
  ): Promise<BatchResult<Result>[]> =>
    runStatement(
      em,
      types.map((_, index) => parameterSets.map((parameters) => parameters[index])),
      onResult,
    );
  const loaders = new WeakMap<object, BatchLoader<Result>>();
  return async (em, parameters) => {
    if (TransactionContext.getEntityManager()?.isInTransaction()) return (await fetchBatch(em, [parameters]))[0]?.answer;
    const connection = em.getConnection();
    const loader =
      loaders.get(connection) ?? new BatchLoader<Result>((parameterSets, onResult) => fetchBatch(em, parameterSets, onResult), limits);
    loaders.set(connection, loader);
    return loader.load(parameters);
  };
}

/**
 * Returns SQL for a table with one row per lookup, built from one array per parameter. Lookups without parameters are identical, so they
 * share one row. The sub-select hides the array length from the planner; otherwise, a custom plan would always look cheaper than the
 * generic plan, and each execution would be planned again.
 */
function unnestParameters(types: readonly string[]): string {
  if (types.length === 0) return '(select 1 as n) asked';
  const arrays = types.map((type, index) => `(select $${index + 1}::${type}[])`).join(', ');
  return `unnest(${arrays}) with ordinality as asked (${types.map((_, index) => `p${index + 1}`).join(', ')}, n)`;
}

/** @param selectSql selects at most one row via an index, and has no `limit` clause */
export function prepareBatchedLookupStatement<Row>(name: string, types: readonly string[], selectSql: string): BatchedLookup<Row> {
  // because of the limit, the planner uses one index lookup per parameter set, regardless of the estimated number of rows
  const selectJsonSql = `select to_json(answer) from (${selectSql} limit 1) answer`;
  return Object.assign(prepareBatched<Row>(name, types, selectJsonSql, sharedBatch), { definition: { name, types, selectJsonSql } });
}

/**
 * Combines two lookups into one statement, which sees one snapshot of the database. The parameters of the statement are those of the first
 * lookup, followed by those of the second lookup. The second lookup runs only if the first lookup finds a row. If the first lookup finds no
 * row, the result is undefined.
 */
export function combineBatchedLookupsIntoOneStatement<First, Second>(
  { definition: first }: BatchedLookup<First>,
  { definition: second }: BatchedLookup<Second>,
): RunBatched<readonly [First, Second | null] | undefined> {
  const secondSql = second.selectJsonSql.replaceAll(/\$(\d+)/g, (_, number: string) => `$${first.types.length + Number(number)}`);
  return prepareBatched(
    `${first.name}_and_${second.name}`,
    [...first.types, ...second.types],
    `select json_build_array(first.found, (${secondSql})) from (${first.selectJsonSql}) first (found)`,
    sharedBatch,
  );
}

/** @param selectSql selects rows in order; a `limit` in it must be a literal, because it applies to the lookups of all callers */
export function prepareBatchedListStatement<Row>(
  name: string | undefined,
  types: readonly string[],
  selectSql: string,
  cost: 'even' | 'any',
): RunBatched<readonly Row[]> {
  const limits = cost === 'even' ? sharedBatch : noBatch;
  const runStatement = prepareBatched<readonly Row[] | null>(name, types, `select json_agg(answer) from (${selectSql}) answer`, limits);
  return async (em, parameters) => (await runStatement(em, parameters)) ?? [];
}
