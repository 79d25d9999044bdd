import type { EntityManager } from '../entity-manager/entity-manager-type.ts';

/** A query-builder query that selects ids. */
type IdQuery = { readonly getQuery: () => string; readonly getParams: () => readonly unknown[] };

/** `key share` blocks only deletions of the row and `for update` locks on it. */
type LockStrength = 'no key update' | 'key share';

/**
 * Locks the selected rows until the transaction ends, and returns their ids. The lock does not block inserts of rows that refer to the
 * locked rows. If the query selects several rows, it must sort them, so that concurrent transactions cannot deadlock.
 */
export async function lockRows(em: EntityManager, query: IdQuery, strength: LockStrength = 'no key update'): Promise<number[]> {
  // Written in SQL because MikroORM does not support FOR NO KEY UPDATE and FOR KEY SHARE.
  const rows = await em.execute<{ id: number }[]>(`${query.getQuery()} for ${strength}`, [...query.getParams()]);
  return rows.map(({ id }) => id);
}
