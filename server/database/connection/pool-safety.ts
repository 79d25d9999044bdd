import { once } from 'node:events';
import { Socket } from 'node:net';
import type { ClientBase, CustomTypesConfig, Pool, PoolClient, TypeOverrides } from 'pg';
import { z } from 'zod';

/** Every connection of the pool gives an int8 as `parse` does. Not by pg's global parsers: the driver may carry its own copy of pg. */
export function parseInt8(pool: Pool, parse: (text: string) => number): void {
  const { types } = pool.options;
  if (!takesParsers(types)) throw new Error('the PostgreSQL pool takes no type parsers');
  types.setTypeParser(20, parse);
}

const takesParsers = (types: CustomTypesConfig | undefined): types is TypeOverrides => types !== undefined && 'setTypeParser' in types;

/**
 * PostgreSQL answers COMMIT with success where a statement of the transaction had failed, and undoes it all the same. Make that an
 * error: whoever overlooked the first one would confirm what was not kept.
 */
export function refuseUndoneCommit(client: ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const checked = (...args: unknown[]): unknown => {
    const result = query(...args);
    return isCommit(args[0]) && result instanceof Promise ? result.then(refuseRollback) : result;
  };
  Object.defineProperty(client, 'query', { value: checked, configurable: true });
}

/** Not by a schema: what does not fit it costs much more than what does, and this is asked of every statement. */
const isCommit = (query: unknown): boolean => typeof query === 'object' && query !== null && 'text' in query && query.text === 'commit';
const tagged = z.object({ command: z.string() });

function refuseRollback(result: unknown): unknown {
  if (tagged.parse(result).command === 'ROLLBACK') throw new Error('the transaction was undone: a statement of it had failed');
  return result;
}

/** Tells how long each statement of a connection took, in milliseconds, whatever came of it. */
export function timeStatements(client: ClientBase, tell: (milliseconds: number) => void): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const timed = (...args: unknown[]): unknown => {
    const begun = performance.now();
    const result = query(...args);
    const end = (): void => tell(performance.now() - begun);
    if (result instanceof Promise) result.then(end, end);
    return result;
  };
  Object.defineProperty(client, 'query', { value: timed, configurable: true });
}

const notTaken: PoolClient['release'] = () => undefined;

/** Kysely forgets a connection that dies inside a transaction (kysely#1990), and its place in the pool with it: give it back here. */
export function giveBackWhenLost(client: PoolClient): void {
  let giveBack = notTaken;
  Object.defineProperty(client, 'release', {
    get: () => giveBack,
    set(release: PoolClient['release']) {
      let done = false;
      giveBack = (error) => {
        if (done) return;
        done = true;
        release(error);
      };
    },
  });
  client.once('end', () => giveBack(true));
}

const connected = z.object({ connection: z.object({ stream: z.instanceof(Socket) }) });

/** A connection, and what is known of the other side; moments are those of `performance.now()`. */
type Line = { readonly stream: Socket; heardAt: number; askedAt: number | undefined };

/**
 * Ends a connection over which no answer comes for so many milliseconds. The limits of PostgreSQL itself cannot be heard over a
 * connection that has died without a word, as behind a firewall that forgot it or a host that is gone, and TCP alone takes a
 * quarter of an hour to notice. What happened to one has mostly happened to all: with it go those that nobody has heard of since,
 * or everybody who is given one of them would find it out anew.
 */
export function endSilentConnections(pool: Pool, limitMs: number): void {
  const lines = new Set<Line>();
  const endSilentSince = async (begun: number): Promise<void> => {
    // a question that has only just been asked may still be answered
    const enough = performance.now() - limitMs / 4;
    const silent = [...lines].filter((line) => line.heardAt <= begun && (line.askedAt ?? 0) < enough);
    const { asked = [], unused = [] } = Object.groupBy(silent, ({ askedAt }) => (askedAt === undefined ? 'unused' : 'asked'));
    // whoever waits asks again as soon as it is told: then the pool must have none of the others left to give
    await Promise.all(unused.map(({ stream }) => once(stream.destroy(), 'close')));
    for (const { stream } of asked) stream.destroy();
  };
  pool.on('connect', (client: ClientBase) => {
    const { stream } = connected.parse(client).connection;
    const line: Line = { stream, heardAt: performance.now(), askedAt: undefined };
    lines.add(line);
    stream.once('close', () => lines.delete(line));
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const limited = (...args: unknown[]): unknown => {
      const answer = query(...args);
      if (!(answer instanceof Promise)) return answer;
      const begun = performance.now();
      line.askedAt = begun;
      const timer = setTimeout(() => void endSilentSince(begun), limitMs);
      const heard = (): void => {
        clearTimeout(timer);
        line.heardAt = performance.now();
        line.askedAt = undefined;
      };
      answer.then(heard, heard);
      return answer;
    };
    Object.defineProperty(client, 'query', { value: limited, configurable: true });
  });
}
