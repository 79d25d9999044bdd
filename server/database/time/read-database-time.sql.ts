import type { EntityManager } from '../entity-manager/entity-manager-type.ts';
import { prepareStatement } from '../queries/prepared-statement.ts';

// Written in SQL because MikroORM selects only from tables.
const queryDatabaseTime = prepareStatement<{ now: string }>('read_database_time', 'select now() as now');

/**
 * Returns the database server's time, which is the same for every process. Use this time for comparisons with timestamps that another
 * process wrote, because the processes can run on machines whose clocks differ or jump.
 */
export async function readDatabaseTime(em: EntityManager): Promise<Date> {
  const [row] = await queryDatabaseTime(em, []);
  if (!row) throw new Error('the database returned no timestamp');
  return new Date(row.now);
}
