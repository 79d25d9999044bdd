import { hostileDatabaseInputs, hostileInputs } from '../network/hostile-inputs.ts';
import { databaseKind } from './database.ts';

/**
 * Contains all hostile inputs if the tests use PostgreSQL. On the embedded database, contains only the inputs that can reach the database,
 * because request parsing does not depend on the database.
 */
export const hostileInputsForDatabase: readonly string[] = databaseKind === 'postgresql' ? hostileInputs : hostileDatabaseInputs;

/** Converts the number of requests for all hostile inputs to the proportional number of requests for `hostileInputsForDatabase`. */
export const scaleRequestCount = (withAllInputs: number): number =>
  Math.floor((withAllInputs * hostileInputsForDatabase.length) / hostileInputs.length);
