import type { EventEmitter } from 'node:events';
import type { ClientBase } from 'pg';
import { z } from 'zod';
import { defineObjectMetadata } from '../../memory/object-metadata.ts';

/** A statement with its name on the connection; the name is empty for unnamed statements. */
export type PreparedQuery = { readonly name: string; readonly text: string; readonly values: readonly unknown[] };
/** Statements that are sent in one message. If one statement fails, all of them are rolled back, because they belong to one transaction. */
type PipelinedQuery = PreparedQuery & { readonly preceding: readonly PreparedQuery[] };

type QueryFunction = (...args: unknown[]) => unknown;
type QueryCallback = (error: unknown, result: unknown) => void;
/** The pg internals that are used here. */
type PgConnection = { readonly parsedStatements: Readonly<Record<string, string>> };
type PgQuery = EventEmitter & {
  requiresPreparation(): boolean;
  prepare(connection: PgConnection): void;
  handleDataRow(row: unknown): void;
  handleCommandComplete(message: unknown, connection: PgConnection): void;
};
type PgQueryClass = new (statement: PreparedQuery, values: undefined, callback: QueryCallback) => PgQuery;
type PgClient = ClientBase & { readonly connection: PgConnection; readonly constructor: { readonly Query: PgQueryClass } };

const anyClient = z.custom<PgClient>();
const anyConnection = z.custom<PgConnection>();
const isPipelined = (query: unknown): query is PipelinedQuery => typeof query === 'object' && query !== null && 'preceding' in query;

/**
 * Callbacks that receive each row as soon as it arrives, attached to the statement parameters. PostgreSQL sends the first rows of a long
 * result while it is still computing the others.
 */
export const rowListeners = defineObjectMetadata<(row: unknown) => void>('listener');

/** Matches the comment at the beginning of a statement: the statement name, and whether the write is deferred. */
export const statementNamePattern = /^\/\*(\w+)( later)?\*\//;

/** Lets a client send a `PipelinedQuery`: several statements with a single Sync, so that PostgreSQL skips the rest after an error. */
export function enablePipelinedQueries(given: ClientBase): void {
  const client = anyClient.parse(given);
  const query = client.query.bind(client) as QueryFunction;
  const { Query } = client.constructor;
  const PipelinedPgQuery = pipelinedQueryClass(Query, client.connection);
  const pipelinedQuery: QueryFunction = (first, ...more) => {
    if (!isPipelined(first)) return query(first, ...more);
    const { preceding, ...last } = first;
    const onRow = rowListeners.get(last.values);
    // Avoids pg's own promise, for which pg assigns a function to the query. V8 pretenures functions that are assigned to properties.
    // Such a function would stay in memory, with the result and the waiting caller, until the next major GC.
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const callback: QueryCallback = (error, result) => (error ? reject(error) : resolve(result));
    const pgQuery = preceding.length === 0 ? new Query(last, undefined, callback) : new PipelinedPgQuery(preceding, last, callback);
    query(onRow ? pgQuery.on('row', onRow) : pgQuery);
    return promise;
  };
  Object.defineProperty(client, 'query', { value: pipelinedQuery, configurable: true });
}

function pipelinedQueryClass(Query: PgQueryClass, connection: PgConnection) {
  const silentConnection = anyConnection.parse(Object.create(connection, { describe: { value: noop }, sync: { value: noop } }));
  return class extends Query {
    readonly #preceding: readonly PreparedQuery[];
    /** Number of preceding statements that have not completed. */
    #pendingCompletions: number;

    constructor(preceding: readonly PreparedQuery[], last: PreparedQuery, callback: QueryCallback) {
      super(last, undefined, callback);
      this.#preceding = preceding;
      this.#pendingCompletions = preceding.length;
    }

    override prepare(): void {
      for (const statement of this.#preceding) new Query({ ...statement }, undefined, noop).prepare(silentConnection);
      super.prepare(connection);
    }

    /** Always true: an unnamed statement without values would be sent by the simple protocol, without the preceding statements. */
    override requiresPreparation(): boolean {
      return true;
    }

    override handleDataRow(row: unknown): void {
      if (this.#pendingCompletions === 0) super.handleDataRow(row);
    }

    override handleCommandComplete(message: unknown): void {
      if (this.#pendingCompletions === 0) super.handleCommandComplete(message, connection);
      else this.#pendingCompletions -= 1;
    }
  };
}

const noop = (): void => undefined;

const emptyResult = (command: string): object => ({ command, rowCount: 0, rows: [], fields: [] });

/**
 * Defers BEGIN and deferred writes and sends them in one message with the next statement, which saves one round trip per deferred
 * statement; a round trip costs more than most statements. If a deferred statement fails, the statement that it was sent with reports the
 * error. A transaction that is rolled back before anything was sent never reaches PostgreSQL.
 */
export function deferTransactionStatements(given: ClientBase, { preparedStatements, limits }: DeferOptions): void {
  const client = anyClient.parse(given);
  const query = client.query.bind(client) as QueryFunction;
  const nameFor = (name: string): string => (preparedStatements ? name : '');
  const begin: PreparedQuery = { name: nameFor('begin'), text: 'begin', values: [] };
  const deferred: PreparedQuery[] = [];
  let [isBegun, hasLimits] = [false, false];

  const send = (last: PreparedQuery): unknown => {
    const preceding = deferred.splice(0);
    isBegun ||= last === begin || preceding[0] === begin;
    if (limits === undefined || hasLimits || last === begin) return query({ ...last, preceding });
    hasLimits = isBegun;
    if (last === limits) return query({ ...last, preceding });
    return query({ ...last, preceding: preceding[0] === begin ? [begin, limits, ...preceding.slice(1)] : [limits, ...preceding] });
  };
  const endTransaction = (text: 'commit' | 'rollback'): unknown => {
    const isEmpty = deferred[0] === begin && (text === 'rollback' || deferred.length === 1);
    if (isEmpty || text === 'rollback') deferred.length = 0;
    const result = isEmpty
      ? emptyResult(text.toUpperCase())
      : text === 'commit'
        ? send({ name: nameFor(text), text, values: [] })
        : query(text);
    [isBegun, hasLimits] = [false, false];
    return result;
  };
  /** Sends a statement without a name, after the deferred statements. */
  const sendUnnamed = async (text: unknown, values: unknown, more: readonly unknown[]): Promise<unknown> => {
    const isStart = typeof text === 'string' && text.startsWith('start transaction');
    const isInTransaction = isBegun || deferred.length > 0;
    if (isInTransaction && !hasLimits && limits !== undefined) deferred.push(limits);
    const last = deferred.pop();
    if (last) await send(last);
    isBegun ||= isStart;
    const single = !isInTransaction && !isStart && limits !== undefined && more.length === 0 ? singleStatement(text, values) : undefined;
    return single ? query({ ...single, preceding: [limits] }) : query(text, values, ...more);
  };
  const together: QueryFunction = async (text, values, ...more) => {
    if (text === 'commit' || text === 'rollback') return endTransaction(text);
    const statement = text === 'begin' ? begin : toPreparedQuery(text, values, nameFor);
    if (!statement || more.length > 0) return sendUnnamed(text, values, more);
    const isDeferrable = statement === begin || ((isBegun || deferred.length > 0) && isDeferred(statement));
    const isKnown = statement.name === '' || client.connection.parsedStatements[statement.name] === statement.text;
    if (!isDeferrable || !isKnown) return send(statement);
    deferred.push(statement);
    return emptyResult('');
  };
  Object.defineProperty(client, 'query', { value: together, configurable: true });
}

export type DeferOptions = {
  /** `false` sends every statement without a name, because PostgreSQL or a pooler does not keep prepared statements. */
  readonly preparedStatements: boolean;
  /**
   * Sent with each transaction's first statement and with each statement outside a transaction. The connection must know the name of this
   * statement.
   */
  readonly limits: PreparedQuery | undefined;
};

function toPreparedQuery(text: unknown, values: unknown, nameFor: (name: string) => string): PreparedQuery | undefined {
  const name = typeof text === 'string' ? statementNamePattern.exec(text)?.[1] : undefined;
  return typeof text === 'string' && name !== undefined && Array.isArray(values) ? { name: nameFor(name), text, values } : undefined;
}

/**
 * Returns an unnamed query if the extended protocol allows it: the text is a single statement. Text without values may contain several
 * statements.
 */
function singleStatement(text: unknown, values: unknown): PreparedQuery | undefined {
  if (typeof text !== 'string') return undefined;
  const given: readonly unknown[] = Array.isArray(values) ? values : [];
  return given.length > 0 || !text.includes(';') ? { name: '', text, values: given } : undefined;
}

const isDeferred = ({ text, values }: PreparedQuery): boolean =>
  statementNamePattern.exec(text)?.[2] !== undefined && values.every(isSafelySerializable);

/** Returns whether pg can serialize a value without throwing; a deferred statement must not fail on the client side. */
const isSafelySerializable = (value: unknown): boolean =>
  value == null ||
  typeof value !== 'object' ||
  value instanceof Date ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));
