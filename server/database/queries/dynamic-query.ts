import { type RawBuilder, sql } from 'kysely';
import { sha256 } from '../../crypto/sha256.ts';
import { prepareBatchedListStatement } from './batched-statement.ts';
import type { EntityManager } from '../entity-manager/entity-manager-type.ts';
import type { StatementParameters } from './batch-loader.ts';

/**
 * Maximum number of cached queries and plans. The server uses a few dozen query texts, so the limit matters only if user input ever reaches
 * the SQL text.
 */
const maxCachedQueries = 500;
/**
 * With `even`, the query must be cheap for all parameters, because concurrent calls are batched into one query. With `any`, calls are not
 * batched.
 */
type Cost = 'even' | 'any';
type PreparedQuery = (em: EntityManager, parameters: StatementParameters) => Promise<readonly unknown[]>;
const queryCache = new Map<string, PreparedQuery>();

/**
 * Rounds a limit up to the default or maximum page size, and adds one row to detect a next page. Rounding keeps the number of different SQL
 * texts small.
 */
export const roundUpLimitAndAddOneSql = (limit: number): RawBuilder<number> => sql.lit(limit <= 20 ? 21 : Math.max(limit, 100) + 1);

/**
 * Runs a query that is built at run time. The query is parsed and planned once per connection, like a prepared statement. Identical
 * concurrent queries share their rows. Therefore, permissions must be part of the query, and rows must not be mutated. Rows are returned as
 * JSON, so timestamps are text, and numbers must not exceed 2^53.
 */
export async function runPreparedDynamicQuery<Row>(em: EntityManager, query: RawBuilder<Row>, cost: Cost = 'any'): Promise<readonly Row[]> {
  const { sql: text, parameters } = query.compile(em.getConnection().getClient());
  const types = parameters.map(parameterType);
  const key = `${cost} ${types.join()} ${text}`;
  const preparedQuery = queryCache.get(key) ?? prepareQuery(key, types, text, cost);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same text gives the same columns
  return (await preparedQuery(em, parameters.map(toArrayElement))) as readonly Row[];
}

function prepareQuery(key: string, types: readonly string[], text: string, cost: Cost): PreparedQuery {
  const isCached = queryCache.size < maxCachedQueries;
  const name = isCached ? `q_${sha256(key, 'hex').slice(0, 16)}` : undefined;
  const preparedQuery = prepareBatchedListStatement<unknown>(name, types, text, cost);
  if (isCached) queryCache.set(key, preparedQuery);
  return preparedQuery;
}

/** Returns the PostgreSQL type of a query parameter. The query must cast the parameter where PostgreSQL does not convert it implicitly. */
function parameterType(parameter: unknown): string {
  if (typeof parameter === 'number') return Number.isInteger(parameter) ? 'bigint' : 'double precision';
  return typeof parameter === 'boolean' ? 'boolean' : 'text';
}

/** Encodes an array as PostgreSQL array text, because `unnest` would flatten nested arrays. */
const toArrayElement = (parameter: unknown): unknown =>
  Array.isArray(parameter) ? `{${parameter.map((item) => `"${String(item).replaceAll(/["\\]/g, String.raw`\$&`)}"`).join()}}` : parameter;
