import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../errors/availability-errors.ts';
import type { Database } from '../entity-manager/entity-manager.ts';

/** How long a start waits for PostgreSQL, and where it reports that. */
export type DatabaseWait = { readonly seconds: number; readonly log: { warn(details: object, message: string): void } };

/** PostgreSQL did not become available in time, or refuses the connection; the message says what to do. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

const retryAfterMs = 500;
const reportEveryMs = 3_000;

/**
 * Waits until PostgreSQL accepts connections.
 * @param variable environment variable with the URL
 * @throws {DatabaseUnavailableError} if it does not in time; at once if waiting does not help, as with a wrong password
 */
export async function waitForDatabase(
  db: Database,
  { variable, url }: { variable: string; url: string },
  wait: DatabaseWait,
): Promise<void> {
  const started = performance.now();
  const { host } = new URL(url);
  for (let reportAt = 0; ;) {
    const failure = await firstError(db);
    if (failure === undefined) return;
    const [waitedMs, reason] = [performance.now() - started, messageOf(failure)];
    if (!isTemporary(failure))
      throw new DatabaseUnavailableError(`PostgreSQL at ${host} refuses the connection (${reason}): correct ${variable}`, {
        cause: failure,
      });
    if (waitedMs >= wait.seconds * 1_000)
      throw new DatabaseUnavailableError(
        `PostgreSQL at ${host} was not available within ${wait.seconds} s (${reason}): start it, correct ${variable}, or raise DATABASE_START_TIMEOUT`,
        { cause: failure },
      );
    if (waitedMs >= reportAt) {
      wait.log.warn({ reason }, `waiting for PostgreSQL at ${host}: ${Math.round(waitedMs / 1_000)} of at most ${wait.seconds} s`);
      reportAt += reportEveryMs;
    }
    await sleep(Math.min(retryAfterMs, wait.seconds * 1_000 - waitedMs));
  }
}

const firstError = (db: Database): Promise<unknown> =>
  db.em
    .fork()
    .execute('select 1')
    .then(
      () => undefined,
      (error: unknown) => error,
    );

/** What PgBouncer refuses for good; it reports all of its errors with one code, that for protocol errors. */
const permanent = /no such|authentication failed|unsupported|not allowed|required|rejected|disabled|does not exist/i;

const isTemporary = (error: unknown): boolean => isDatabaseAway(error) && !permanent.test(messageOf(error));

/** Node reports several addresses of a host as one error without a message. */
const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
};
