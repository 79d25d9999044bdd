import { getSqlState } from './sql-error-fields.ts';

/**
 * SQLSTATEs: admin shutdown, crash shutdown, cannot connect now, too many connections, out of memory, read-only transaction (a standby that
 * has not been promoted yet). System errors: refused, lost and timed-out connections, and unresolved host names.
 */
const unreachableCodes = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '53200',
  '25006',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** pg errors without a code. */
const unreachableMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/** Returns whether a query failed because the database is currently unreachable, and not because of the query itself. */
export function isDatabaseUnreachableError(error: unknown): boolean {
  const code = getSqlState(error);
  if (code !== undefined && (unreachableCodes.has(code) || code.startsWith('08'))) return true;
  return (
    error instanceof Error &&
    (unreachableMessages.test(error.message) || (error.cause !== undefined && isDatabaseUnreachableError(error.cause)))
  );
}

/** Returns whether a retry of the same request may succeed, because the failure is temporary and unrelated to the request. */
export const isTemporaryDatabaseError = (error: unknown): boolean =>
  isDatabaseUnreachableError(error) || isDatabaseContentionError(error) || isDiskFullError(error);

/** Returns whether a query failed because the database's disk is full or nearly full. */
export const isDiskFullError = (error: unknown): boolean =>
  getSqlState(error) === '53100' || (error instanceof Error && error.cause !== undefined && isDiskFullError(error.cause));

/** Value of `Retry-After` in responses to requests that failed because of low disk space. */
export const lowDiskSpaceRetryAfterSeconds = 10;

/** Errors after which PostgreSQL rolls back the transaction (statement timeout, lock timeout, deadlock, serialization failure). */
const transientSqlStates = new Set(['57014', '55P03', '40P01', '40001']);

/** Returns whether a query failed because of concurrent activity, so that a retry may succeed. */
export const isDatabaseContentionError = (error: unknown): boolean =>
  transientSqlStates.has(getSqlState(error) ?? '') ||
  (error instanceof Error && error.cause !== undefined && isDatabaseContentionError(error.cause));
