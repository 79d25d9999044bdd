import type { EntityManager } from '../entity-manager/entity-manager.ts';

/** A query-builder query that selects ids. */
type IdQuery = { readonly getQuery: () => string; readonly getParams: () => readonly unknown[] };

/**
 * Locks the rows whose ids the query selects until the transaction ends, and returns the ids. The lock does not block inserts of rows that
 * refer to the locked rows. A query that selects several rows must sort them, so that concurrent transactions cannot deadlock.
 */
export async function lockRows(em: EntityManager, query: IdQuery): Promise<number[]> {
  // SQL, because MikroORM has no lock mode for FOR NO KEY UPDATE.
  const rows = await em.execute<{ id: number }[]>(`${query.getQuery()} for no key update`, [...query.getParams()]);
  return rows.map(({ id }) => id);
}
