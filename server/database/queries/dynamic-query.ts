import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { listStatement } from './batched-statement.ts';
import type { Em } from '../entity-manager/entity-manager.ts';
import type { Parameters } from './batch-loader.ts';

/** So many shapes of queries are kept, and their plans; there are a few dozen, unless somebody builds them of what callers send. */
const shapesMax = 500;
/** `even`: it costs next to nothing whatever is asked for, so that several go to the database as one. */
type Cost = 'even' | 'any';
type Shape = (em: Em, parameters: Parameters) => Promise<readonly unknown[]>;
const shapes = new Map<string, Shape>();

/** Part of the text, so that there are few texts: as many rows as a usual page shows or as the largest, and one to see whether more follow. */
export const rowsFor = (limit: number): RawBuilder<number> => sql.lit(limit <= 20 ? 21 : Math.max(limit, 100) + 1);

/**
 * The rows of a query put together at run time. Its shape is parsed and planned once per connection, as statements are; and whoever
 * asks the same at the same time gets the same rows: who may see what belongs into the query, therefore, and nobody changes a row.
 * A row comes as JSON: a moment is text, and no number in it may be beyond 2^53.
 */
export async function rowsOf<Row>(em: Em, query: RawBuilder<Row>, cost: Cost = 'any'): Promise<readonly Row[]> {
  const { sql: text, parameters } = query.compile(em.getConnection().getClient());
  const types = parameters.map(typeOf);
  const key = `${cost} ${types.join()} ${text}`;
  const shape = shapes.get(key) ?? newShape(key, types, text, cost);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same text gives the same columns
  return (await shape(em, parameters.map(element))) as readonly Row[];
}

function newShape(key: string, types: readonly string[], text: string, cost: Cost): Shape {
  const isKept = shapes.size < shapesMax;
  const name = isKept ? `q_${createHash('sha256').update(key).digest('hex').slice(0, 16)}` : undefined;
  const shape = listStatement<unknown>(name, types, text, cost);
  if (isKept) shapes.set(key, shape);
  return shape;
}

/** As what a parameter comes; the query itself says as what it is taken, wherever PostgreSQL would not do that by itself. */
function typeOf(parameter: unknown): string {
  if (typeof parameter === 'number') return Number.isInteger(parameter) ? 'bigint' : 'double precision';
  return typeof parameter === 'boolean' ? 'boolean' : 'text';
}

/** Arrays in arrays would be one array to `unnest`: each comes as PostgreSQL's text for it. */
const element = (parameter: unknown): unknown =>
  Array.isArray(parameter) ? `{${parameter.map((item) => `"${String(item).replaceAll(/["\\]/g, String.raw`\$&`)}"`).join()}}` : parameter;
