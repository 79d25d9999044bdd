import { sqlState } from './sql-errors.ts';

/**
 * Admin shutdown, crash shutdown, starting up, too many connections, no memory, a server that takes no writes
 * (a standby that is not yet promoted); and what the system says when nobody listens or answers.
 */
const codes = new Set([
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

/** pg gives these no code. */
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/** Whether a query failed because the database cannot be reached at the moment, and not because of what was asked. */
export function isDatabaseAway(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined && (codes.has(code) || code.startsWith('08'))) return true;
  return error instanceof Error && (messages.test(error.message) || (error.cause !== undefined && isDatabaseAway(error.cause)));
}

/** Whether the same request may succeed soon, because it failed of nothing that has to do with it. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  isDatabaseAway(error) || isDatabaseBusy(error) || isStorageInsufficient(error);

/** Whether a query failed because the disk of the database is full or nearly full. */
export const isStorageInsufficient = (error: unknown): boolean =>
  sqlState(error) === '53100' || (error instanceof Error && error.cause !== undefined && isStorageInsufficient(error.cause));

/** How long callers should wait before they send a request again that failed for lack of disk space. */
export const storageRetryAfterSeconds = 10;

/** A statement or a lock that took too long, and transactions that waited for each other or met: all of them were undone. */
const undone = new Set(['57014', '55P03', '40P01', '40001']);

/** Whether a query failed because of what else goes on at the moment: the same request may succeed later. */
export const isDatabaseBusy = (error: unknown): boolean =>
  undone.has(sqlState(error) ?? '') || (error instanceof Error && error.cause !== undefined && isDatabaseBusy(error.cause));
