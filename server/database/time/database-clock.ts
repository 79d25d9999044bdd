import type { Em } from '../entity-manager/entity-manager.ts';
import { statement } from '../queries/prepared-statement.ts';

const clock = statement<{ now: string }>('database_time', 'select now() as now');

/**
 * What time it is for everybody: the clocks of several servers differ, and jump. For what one of them decides by a moment that
 * another wrote down.
 */
export async function databaseTime(em: Em): Promise<Date> {
  const [row] = await clock(em, []);
  if (!row) throw new Error('the database does not know what time it is');
  return new Date(row.now);
}
