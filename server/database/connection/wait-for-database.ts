import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnreachableError } from '../errors/database-error-predicates.ts';
import type { Database } from '../entity-manager/entity-manager-type.ts';

/** Maximum time to wait for PostgreSQL at start-up, and the log for progress messages. */
export type DatabaseWaitOptions = { readonly seconds: number; readonly log: { warn(details: object, message: string): void } };

/** Thrown if PostgreSQL does not become available in time, or refuses the connection. The message tells the operator what to do. */
export class DatabaseStartupError extends Error {
  override readonly name = 'DatabaseStartupError';
}

const retryDelayMs = 500;
const reportIntervalMs = 3_000;

/**
 * Waits until PostgreSQL accepts connections.
 * @param variable environment variable that contains the URL
 * @throws {DatabaseStartupError} after the maximum time, or immediately if waiting does not help (for example, because the password is
 * wrong)
 */
export async function waitForDatabase(
  db: Database,
  { variable, url }: { variable: string; url: string },
  wait: DatabaseWaitOptions,
): Promise<void> {
  const started = performance.now();
  const { host } = new URL(url);
  for (let reportAt = 0; ;) {
    const failure = await connectionError(db);
    if (failure === undefined) return;
    const [waitedMs, reason] = [performance.now() - started, errorMessage(failure)];
    if (!isTemporary(failure))
      throw new DatabaseStartupError(`PostgreSQL at ${host} refuses the connection (${reason}): correct ${variable}`, {
        cause: failure,
      });
    if (waitedMs >= wait.seconds * 1_000)
      throw new DatabaseStartupError(
        `PostgreSQL at ${host} was not available within ${wait.seconds} s (${reason}): start it, correct ${variable}, or raise DATABASE_START_TIMEOUT`,
        { cause: failure },
      );
    if (waitedMs >= reportAt) {
      wait.log.warn({ reason }, `waiting for PostgreSQL at ${host}: ${Math.round(waitedMs / 1_000)} of at most ${wait.seconds} s`);
      reportAt += reportIntervalMs;
    }
    await sleep(Math.min(retryDelayMs, wait.seconds * 1_000 - waitedMs));
  }
}

const connectionError = (db: Database): Promise<unknown> =>
  db.em
    .fork()
    .execute('select 1')
    .then(
      () => undefined,
      (error: unknown) => error,
    );

/** Permanent PgBouncer errors. PgBouncer reports all its errors with the code for protocol errors. */
const permanentErrors = /no such|authentication failed|unsupported|not allowed|required|rejected|disabled|does not exist/i;

const isTemporary = (error: unknown): boolean => isDatabaseUnreachableError(error) && !permanentErrors.test(errorMessage(error));

/** Describes an error. For a host with several addresses, Node throws an `AggregateError` without a message. */
const errorMessage = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorMessage).join(', ');
  return error instanceof Error ? error.message : String(error);
};
