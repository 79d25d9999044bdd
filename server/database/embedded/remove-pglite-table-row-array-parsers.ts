import type { PGlite } from '@electric-sql/pglite';

/** Lowest ID that PostgreSQL assigns to the row types of tables and views, and to the array types of these row types. */
const firstRowTypeId = 10_000;

/**
 * Removes the parsers for arrays of table rows. PGlite adds several hundred of these parsers, and copies all parsers for each query, which
 * can take longer than the query. `pg` does not have these parsers, so no query depends on them.
 */
export function removePgliteTableRowArrayParsers({ parsers }: Pick<PGlite, 'parsers'>): void {
  for (const typeId of Object.keys(parsers)) if (Number(typeId) >= firstRowTypeId) delete parsers[Number(typeId)];
}
