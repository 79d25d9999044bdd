import type { EventEmitter } from 'node:events';
import type { ClientBase } from 'pg';
import { z } from 'zod';
import { noteOf } from '../../memory/object-metadata.ts';

/** A statement with the name by which a connection knows it once it was sent there; an empty name for none. */
export type Prepared = { readonly name: string; readonly text: string; readonly values: readonly unknown[] };
/** What goes to PostgreSQL in one message. What fails of it undoes the others: they are one transaction, or its end. */
type Together = Prepared & { readonly before: readonly Prepared[] };

type Run = (...args: unknown[]) => unknown;
type Answered = (error: unknown, result: unknown) => void;
/** pg's own, as far as it is used here. */
type PgConnection = { readonly parsedStatements: Readonly<Record<string, string>> };
type PgQuery = EventEmitter & {
  requiresPreparation(): boolean;
  prepare(connection: PgConnection): void;
  handleDataRow(row: unknown): void;
  handleCommandComplete(message: unknown, connection: PgConnection): void;
};
type PgQueries = new (statement: Prepared, values: undefined, answered: Answered) => PgQuery;
type PgClient = ClientBase & { readonly connection: PgConnection; readonly constructor: { readonly Query: PgQueries } };

const anyClient = z.custom<PgClient>();
const anyConnection = z.custom<PgConnection>();
const isTogether = (query: unknown): query is Together => typeof query === 'object' && query !== null && 'before' in query;

/**
 * Who wants to know of each row as soon as it has come, noted on the parameters of the statement: PostgreSQL sends the first rows of a
 * long answer while it looks for the next.
 */
export const listener = noteOf<(row: unknown) => void>('listener');

/** The name in the comment that a statement begins with, and whether it says that nobody waits for its answer. */
export const heading = /^\/\*(\w+)( later)?\*\//;

/** Lets a connection take `Together`: by the extended protocol without a sync in between, so that after a failure nothing more is run. */
export function takeTogether(given: ClientBase): void {
  const client = anyClient.parse(given);
  const query = client.query.bind(client) as Run;
  const { Query } = client.constructor;
  const Queries = queriesTogether(Query, client.connection);
  const taken: Run = (first, ...more) => {
    if (!isTogether(first)) return query(first, ...more);
    const { before, ...last } = first;
    const tell = listener.get(last.values);
    // not by pg's own promise: it assigns a function to the query, and V8 takes a function that is assigned to a property for one that
    // stays, so that it lives, with the answer and who waited for it, until the next full collection
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const answered: Answered = (error, result) => (error ? reject(error) : resolve(result));
    const asked = before.length === 0 ? new Query(last, undefined, answered) : new Queries(before, last, answered);
    query(tell ? asked.on('row', tell) : asked);
    return promise;
  };
  Object.defineProperty(client, 'query', { value: taken, configurable: true });
}

function queriesTogether(Query: PgQueries, connection: PgConnection) {
  const unanswered = anyConnection.parse(Object.create(connection, { describe: { value: nothing }, sync: { value: nothing } }));
  return class extends Query {
    readonly #before: readonly Prepared[];
    /** So many are to end before the one whose answer it is. */
    #ahead: number;

    constructor(before: readonly Prepared[], last: Prepared, answered: Answered) {
      super(last, undefined, answered);
      this.#before = before;
      this.#ahead = before.length;
    }

    override prepare(): void {
      for (const statement of this.#before) new Query({ ...statement }, undefined, nothing).prepare(unanswered);
      super.prepare(connection);
    }

    /** An unnamed statement without values would be sent by the simple protocol, without those before it. */
    override requiresPreparation(): boolean {
      return true;
    }

    override handleDataRow(row: unknown): void {
      if (this.#ahead === 0) super.handleDataRow(row);
    }

    override handleCommandComplete(message: unknown): void {
      if (this.#ahead === 0) super.handleCommandComplete(message, connection);
      else this.#ahead -= 1;
    }
  };
}

const nothing = (): void => undefined;

const none = (command: string): object => ({ command, rowCount: 0, rows: [], fields: [] });

/**
 * Keeps the beginning of a transaction, and within it what nobody waits for, and sends it with the statement that comes next: each
 * message wakes a process there and this one again, which costs more than most statements. What fails is then said to be the
 * statement it was sent with, in the same transaction. One that is undone before anything was sent is never begun.
 */
export function sendTogether(given: ClientBase, { preparedStatements, limits }: Sending): void {
  const client = anyClient.parse(given);
  const query = client.query.bind(client) as Run;
  const nameOf = (name: string): string => (preparedStatements ? name : '');
  const begin: Prepared = { name: nameOf('begin'), text: 'begin', values: [] };
  const held: Prepared[] = [];
  let [begun, limited] = [false, false];

  const send = (last: Prepared): unknown => {
    const before = held.splice(0);
    begun ||= last === begin || before[0] === begin;
    if (limits === undefined || limited || last === begin) return query({ ...last, before });
    limited = begun;
    if (last === limits) return query({ ...last, before });
    return query({ ...last, before: before[0] === begin ? [begin, limits, ...before.slice(1)] : [limits, ...before] });
  };
  const end = (text: 'commit' | 'rollback'): unknown => {
    const isEmpty = held[0] === begin && (text === 'rollback' || held.length === 1);
    if (isEmpty || text === 'rollback') held.length = 0;
    const ended = isEmpty ? none(text.toUpperCase()) : text === 'commit' ? send({ name: nameOf(text), text, values: [] }) : query(text);
    [begun, limited] = [false, false];
    return ended;
  };
  /** Sends a statement without a name, after what is held. */
  const sendUnnamed = async (text: unknown, values: unknown, more: readonly unknown[]): Promise<unknown> => {
    const isStart = typeof text === 'string' && text.startsWith('start transaction');
    const isInTransaction = begun || held.length > 0;
    if (isInTransaction && !limited && limits !== undefined) held.push(limits);
    const last = held.pop();
    if (last) await send(last);
    begun ||= isStart;
    const alone = !isInTransaction && !isStart && limits !== undefined && more.length === 0 ? singleStatement(text, values) : undefined;
    return alone ? query({ ...alone, before: [limits] }) : query(text, values, ...more);
  };
  const together: Run = async (text, values, ...more) => {
    if (text === 'commit' || text === 'rollback') return end(text);
    const statement = text === 'begin' ? begin : prepared(text, values, nameOf);
    if (!statement || more.length > 0) return sendUnnamed(text, values, more);
    const waits = statement === begin || ((begun || held.length > 0) && isForLater(statement));
    const isKnown = statement.name === '' || client.connection.parsedStatements[statement.name] === statement.text;
    if (!waits || !isKnown) return send(statement);
    held.push(statement);
    return none('');
  };
  Object.defineProperty(client, 'query', { value: together, configurable: true });
}

export type Sending = {
  /** `false`: every statement is sent without a name, because PostgreSQL or a pooler does not keep names for this connection. */
  readonly preparedStatements: boolean;
  /** Sent with the first statement of each transaction, and with each statement outside of one; the connection must know its name. */
  readonly limits: Prepared | undefined;
};

function prepared(text: unknown, values: unknown, nameOf: (name: string) => string): Prepared | undefined {
  const name = typeof text === 'string' ? heading.exec(text)?.[1] : undefined;
  return typeof text === 'string' && name !== undefined && Array.isArray(values) ? { name: nameOf(name), text, values } : undefined;
}

/** Only a single statement can be sent by the extended protocol; a text without values may have several. */
function singleStatement(text: unknown, values: unknown): Prepared | undefined {
  if (typeof text !== 'string') return undefined;
  const given: readonly unknown[] = Array.isArray(values) ? values : [];
  return given.length > 0 || !text.includes(';') ? { name: '', text, values: given } : undefined;
}

const isForLater = ({ text, values }: Prepared): boolean => heading.exec(text)?.[2] !== undefined && values.every(isPlain);

/** Values that pg can certainly write, so that a statement that was promised is sent. */
const isPlain = (value: unknown): boolean =>
  value == null ||
  typeof value !== 'object' ||
  value instanceof Date ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));
