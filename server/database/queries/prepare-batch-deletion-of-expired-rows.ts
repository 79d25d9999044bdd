import type { EntityManager } from '../entity-manager/entity-manager-type.ts';
import { prepareStatement } from './prepared-statement.ts';

export type ExpiredRows = {
  readonly table: string;
  /** Columns of the primary key. */
  readonly key: string;
  /** SQL condition for expired rows. `$1` is the current time. */
  readonly isExpired: string;
  /** Indexed column that is used to find the expired rows. */
  readonly orderBy?: string;
};

/** Deletes one batch of expired rows and returns their number. Call this function again until it returns 0. */
export type DeleteExpiredRows = (em: EntityManager, now: Date) => Promise<number>;

/** Maximum number of rows per statement, so that each statement is short. */
const batchSize = 1_000;

/** Prepares a function that deletes expired rows. Rows that a request has locked are skipped, and a later call deletes them. */
export function prepareBatchDeletionOfExpiredRows({ table, key, isExpired, orderBy }: ExpiredRows): DeleteExpiredRows {
  const deleteBatch = prepareStatement<{ deleted: number }>(
    `delete_expired_${table}`,
    `delete from ${table} where (${key}) in
       (select ${key} from ${table} where ${isExpired} ${orderBy === undefined ? '' : `order by ${orderBy}`} limit ${batchSize}
         for update of ${table} skip locked)
     returning 1 as deleted`,
  );
  return async (em, now) => (await deleteBatch(em, [now])).length;
}
