import { hostileDatabaseInputs, hostileInputs } from '../network/hostile-inputs.ts';
import { databaseKind } from './database.ts';

/**
 * All hostile inputs on PostgreSQL. On the embedded database, only those that can reach the database: the server parses requests in the same
 * way on both databases.
 */
export const hostileInputsForDatabase: readonly string[] = databaseKind === 'postgresql' ? hostileInputs : hostileDatabaseInputs;

/** Returns the minimum number of requests in a test file that sends this many with all hostile inputs. */
export const scaleRequestCount = (withAllInputs: number): number =>
  Math.floor((withAllInputs * hostileInputsForDatabase.length) / hostileInputs.length);
