import { once } from 'node:events';
import { Socket } from 'node:net';
import type { ClientBase, CustomTypesConfig, Pool, PoolClient, TypeOverrides } from 'pg';
import { z } from 'zod';
import type { MessageObserver } from './create-pipelined-statement-sender.ts';

/** Sets the int8 parser of one pool instead of pg's global parser, because the driver may have its own copy of pg. */
export function setPoolInt8Parser(pool: Pool, parse: (text: string) => number): void {
  const { types } = pool.options;
  if (!hasTypeParsers(types)) throw new Error('the PostgreSQL pool does not support type parsers');
  types.setTypeParser(20, parse);
}

const hasTypeParsers = (types: CustomTypesConfig | undefined): types is TypeOverrides => types !== undefined && 'setTypeParser' in types;

const notCheckedOut: PoolClient['release'] = () => undefined;

/** Releases a connection that is lost inside a transaction. Kysely releases neither such a connection nor its pool slot (kysely#1990). */
export function releaseToPoolWhenConnectionEnds(client: PoolClient): void {
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

/** State of a connection. The times are values of `performance.now()`. */
type ConnectionActivity = { readonly stream: Socket; heardAt: number; askedAt: number | undefined };

/**
 * Returns a function that creates the observer of a new connection. The observer destroys the connection if it does not respond for
 * `limitMs`. A connection is dead, for example, if a firewall has dropped it or the host is down. PostgreSQL cannot report its own timeouts
 * over a dead connection, and TCP takes 15 minutes to detect one. If one connection is dead, the others usually are dead too. Therefore,
 * every connection that has received nothing since the query was sent is also destroyed, so that later requests do not time out one by one.
 */
export function createUnresponsiveConnectionKiller(limitMs: number): (client: ClientBase) => MessageObserver {
  const activities = new Set<ConnectionActivity>();
  const destroyUnresponsiveSince = async (startedAt: number): Promise<void> => {
    // a response to a query that was just sent may still arrive
    const recentEnoughSince = performance.now() - limitMs / 4;
    const unresponsive = [...activities].filter((activity) => activity.heardAt <= startedAt && (activity.askedAt ?? 0) < recentEnoughSince);
    const { asked: waiting = [], unused: idle = [] } = Object.groupBy(unresponsive, ({ askedAt }) =>
      askedAt === undefined ? 'unused' : 'asked',
    );
    // When a query fails, its caller retries immediately. By then, the pool must not contain any dead connections.
    await Promise.all(idle.map(({ stream }) => once(stream.destroy(), 'close')));
    for (const { stream } of waiting) stream.destroy();
  };
  return (client) => {
    const { stream } = clientSocketSchema.parse(client).connection;
    const activity: ConnectionActivity = { stream, heardAt: performance.now(), askedAt: undefined };
    activities.add(activity);
    stream.once('close', () => activities.delete(activity));
    return () => {
      const startedAt = performance.now();
      activity.askedAt = startedAt;
      const timer = setTimeout(() => void destroyUnresponsiveSince(startedAt), limitMs);
      return () => {
        clearTimeout(timer);
        activity.heardAt = performance.now();
        activity.askedAt = undefined;
      };
    };
  };
}
