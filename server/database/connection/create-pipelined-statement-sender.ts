import type { EventEmitter } from 'node:events';
import type { ClientBase } from 'pg';
import { z } from 'zod';
import { createSymbolKeyedProperty } from '../../memory/attach-data-to-objects-with-symbol-keyed-property.ts';

/** A statement, and the name under which it is prepared on the connection. The name is empty for an unnamed statement. */
export type PreparedQuery = { readonly name: string; readonly text: string; readonly values: readonly unknown[] };

/** Called when a message is sent to PostgreSQL. The returned function is called when the result or the error has arrived. */
export type MessageObserver = () => () => void;

export type MessageSender = {
  /** Sends statements in one message. If one statement fails, all are rolled back, because they are part of one transaction. */
  readonly send: (last: PreparedQuery, preceding: readonly PreparedQuery[]) => Promise<unknown>;
  /** Sends a query without a name, with any arguments that `client.query` accepts. */
  readonly sendUnnamed: (...args: unknown[]) => unknown;
  /** Returns true if the connection has prepared the statement or the statement has no name. */
  readonly isPrepared: (statement: PreparedQuery) => boolean;
};

type QueryCallback = (error: unknown, result: { readonly command: string }) => void;
/** The pg internals that this file uses. */
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

/**
 * Callbacks that receive each row as soon as it arrives. The callbacks are attached to the statement parameters. PostgreSQL sends the first
 * rows of a long result while it is still computing the other rows.
 */
export const rowListenersByStatementParameters = createSymbolKeyedProperty<(row: unknown) => void>('listener');

/**
 * Creates the functions that send statements on this connection. A message contains either several statements with a single Sync, or a
 * single statement.
 */
export function createPipelinedStatementSender(given: ClientBase, observers: readonly MessageObserver[]): MessageSender {
  const client = anyClient.parse(given);
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const { Query } = client.constructor;
  const PipelinedPgQuery = pipelinedQueryClass(Query, client.connection);
  const observe: MessageObserver = () => {
    const ends = observers.map((observer) => observer());
    return () => {
      for (const end of ends) end();
    };
  };
  return {
    send(last, preceding) {
      const onRow = rowListenersByStatementParameters.get(last.values);
      // The promise is created here and not by pg, because pg would assign a function to a property of the query. V8 allocates such
      // functions in the old generation, so the function, the result and the waiting caller would stay in memory until the next major GC.
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const end = observe();
      const callback: QueryCallback = (error, result) => {
        end();
        if (error) reject(error);
        else if (last.text === 'commit' && result.command === 'ROLLBACK') reject(rolledBackCommitError());
        else resolve(result);
      };
      const pgQuery =
        preceding.length === 0 ? new Query({ ...last }, undefined, callback) : new PipelinedPgQuery(preceding, { ...last }, callback);
      query(onRow ? pgQuery.on('row', onRow) : pgQuery);
      return promise;
    },
    sendUnnamed(...args) {
      const result = query(...args);
      if (!(result instanceof Promise)) return result; // for a cursor, `query` returns no promise
      const end = observe();
      result.then(end, end);
      return result;
    },
    isPrepared: ({ name, text }) => name === '' || client.connection.parsedStatements[name] === text,
  };
}

/**
 * If a statement has failed, PostgreSQL rolls the transaction back at COMMIT, but reports success. Without this error, the caller would
 * confirm a write that was lost.
 */
const rolledBackCommitError = (): Error => new Error('the transaction was rolled back because one of its statements had failed');

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

    /**
     * Returns true even for an unnamed statement without values. Otherwise, pg would send such a statement with the simple protocol and
     * without the preceding statements.
     */
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
