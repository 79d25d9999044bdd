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

/** A statement that begins with a comment holding its name is parsed and planned once per connection. */
export function prepareNamedStatements(client: ClientBase): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const named = (text: unknown, values: unknown, done: unknown): unknown => {
    const name = typeof text === 'string' && Array.isArray(values) ? /^\/\*(\w+)\*\//.exec(text)?.[1] : undefined;
    return name ? query({ name, text, values }, done) : query(text, values, done);
  };
  Object.defineProperty(client, 'query', { value: named, configurable: true });
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

/**
 * Ends a connection over which no answer comes for so many milliseconds. The limits of PostgreSQL itself cannot be heard over a
 * connection that has died without a word, as behind a firewall that forgot it or a host that is gone, and TCP alone takes a
 * quarter of an hour to notice.
 */
export const endWhenSilent =
  (limitMs: number) =>
  (client: ClientBase): void => {
    const { stream } = connected.parse(client).connection;
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const limited = (...args: unknown[]): unknown => {
      const answer = query(...args);
      if (!(answer instanceof Promise)) return answer;
      const timer = setTimeout(() => stream.destroy(), limitMs);
      const heard = (): void => clearTimeout(timer);
      answer.then(heard, heard);
      return answer;
    };
    Object.defineProperty(client, 'query', { value: limited, configurable: true });
  };
