import { ApiError, ConnectionError, TimeoutError } from '@mandate/client-sdk';

/**
 * Returns whether a page must show the error in place of its data. After a temporary error, such as a lost connection, a page keeps its
 * data and the values that the user has entered.
 */
export function shouldErrorReplaceData(error: unknown, data: unknown): boolean {
  if (error === null || error === undefined) return false;
  const isUnavailable = error instanceof ApiError && (error.status >= 500 || error.status === 429);
  return data === undefined || !(isUnavailable || error instanceof ConnectionError || error instanceof TimeoutError);
}
