import type { EntityManager } from '../entity-manager/entity-manager.ts';
import { prepareStatement } from '../queries/prepared-statement.ts';

const queryDatabaseTime = prepareStatement<{ now: string }>('read_database_time', 'select now() as now');

/**
 * Returns the time of the database server, which is the same for every process; the clocks of servers differ and jump. Use it to
 * compare with timestamps that another process wrote.
 */
export async function readDatabaseTime(em: EntityManager): Promise<Date> {
  const [row] = await queryDatabaseTime(em, []);
  if (!row) throw new Error('the database returned no timestamp');
  return new Date(row.now);
}
