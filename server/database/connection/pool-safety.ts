import { once } from 'node:events';
import { Socket } from 'node:net';
import type { ClientBase, CustomTypesConfig, Pool, PoolClient, TypeOverrides } from 'pg';
import { z } from 'zod';

/** Sets a pool's int8 parser instead of pg's global parser, because the driver may have its own copy of pg. */
export function setInt8Parser(pool: Pool, parse: (text: string) => number): void {
  const { types } = pool.options;
  if (!hasTypeParsers(types)) throw new Error('the PostgreSQL pool does not support type parsers');
  types.setTypeParser(20, parse);
}

const hasTypeParsers = (types: CustomTypesConfig | undefined): types is TypeOverrides => types !== undefined && 'setTypeParser' in types;

/**
 * Throws an error if COMMIT rolls the transaction back because one of its statements failed. PostgreSQL reports success for such a COMMIT,
 * so a caller would otherwise confirm a lost write.
 */
export function failOnRolledBackCommit(client: ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const checkedQuery = (...args: unknown[]): unknown => {
    const result = query(...args);
    return isCommit(args[0]) && result instanceof Promise ? result.then(assertCommitted) : result;
  };
  Object.defineProperty(client, 'query', { value: checkedQuery, configurable: true });
}

/** Uses a plain check instead of a schema, because the check runs for every statement and a failed schema validation is expensive. */
const isCommit = (query: unknown): boolean => typeof query === 'object' && query !== null && 'text' in query && query.text === 'commit';
const commandResultSchema = z.object({ command: z.string() });

function assertCommitted(result: unknown): unknown {
  if (commandResultSchema.parse(result).command === 'ROLLBACK')
    throw new Error('the transaction was rolled back because one of its statements had failed');
  return result;
}

/** Reports each statement's duration in milliseconds, even when the statement fails. */
export function reportStatementDurations(client: ClientBase, report: (milliseconds: number) => void): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const timedQuery = (...args: unknown[]): unknown => {
    const startedAt = performance.now();
    const result = query(...args);
    const reportEnd = (): void => report(performance.now() - startedAt);
    if (result instanceof Promise) result.then(reportEnd, reportEnd);
    return result;
  };
  Object.defineProperty(client, 'query', { value: timedQuery, configurable: true });
}

const notCheckedOut: PoolClient['release'] = () => undefined;

/** Releases a connection that is lost inside a transaction. Kysely releases neither such a connection nor its pool slot (kysely#1990). */
export function releaseLostClient(client: PoolClient): void {
  let releaseOnce = notCheckedOut;
  Object.defineProperty(client, 'release', {
    get: () => releaseOnce,
    set(release: PoolClient['release']) {
      let done = false;
      releaseOnce = (error) => {
        if (done) return;
        done = true;
        release(error);
      };
    },
  });
  client.once('end', () => releaseOnce(true));
}

const clientSocketSchema = z.object({ connection: z.object({ stream: z.instanceof(Socket) }) });

/** Connection state; times are from `performance.now()`. */
type ConnectionActivity = { readonly stream: Socket; heardAt: number; askedAt: number | undefined };

/**
 * Destroys a connection that does not respond for `limitMs`. PostgreSQL's own timeouts cannot be reported over a dead connection (dropped
 * by a firewall, or to a host that is down), and TCP takes 15 minutes to detect a dead connection. If one connection is dead, the others
 * are usually dead, too. Therefore, every connection that has received nothing since the query was sent is also destroyed; otherwise, later
 * requests would time out one by one.
 */
export function destroyUnresponsiveConnections(pool: Pool, limitMs: number): void {
  const activities = new Set<ConnectionActivity>();
  const destroyUnresponsiveSince = async (startedAt: number): Promise<void> => {
    // a response to a query that was just sent may still arrive
    const recentEnoughSince = performance.now() - limitMs / 4;
    const unresponsive = [...activities].filter((activity) => activity.heardAt <= startedAt && (activity.askedAt ?? 0) < recentEnoughSince);
    const { asked: waiting = [], unused: idle = [] } = Object.groupBy(unresponsive, ({ askedAt }) =>
      askedAt === undefined ? 'unused' : 'asked',
    );
    // Callers retry as soon as their query fails; by then, the pool must not contain any of the dead connections.
    await Promise.all(idle.map(({ stream }) => once(stream.destroy(), 'close')));
    for (const { stream } of waiting) stream.destroy();
  };
  pool.on('connect', (client: ClientBase) => {
    const { stream } = clientSocketSchema.parse(client).connection;
    const activity: ConnectionActivity = { stream, heardAt: performance.now(), askedAt: undefined };
    activities.add(activity);
    stream.once('close', () => activities.delete(activity));
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const monitoredQuery = (...args: unknown[]): unknown => {
      const result = query(...args);
      if (!(result instanceof Promise)) return result;
      const startedAt = performance.now();
      activity.askedAt = startedAt;
      const timer = setTimeout(() => void destroyUnresponsiveSince(startedAt), limitMs);
      const markResponded = (): void => {
        clearTimeout(timer);
        activity.heardAt = performance.now();
        activity.askedAt = undefined;
      };
      result.then(markResponded, markResponded);
      return result;
    };
    Object.defineProperty(client, 'query', { value: monitoredQuery, configurable: true });
  });
}
