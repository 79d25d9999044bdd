import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { DatabaseConnection } from 'kysely';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { parseStatementName } from '../database/queries/prepared-statement.ts';

/** `written`: committed events have no sequence number yet. `placed`: events received sequence numbers, or deliveries became pending. */
export const eventSignalTopics = ['written', 'placed'] as const;
export type EventSignalTopic = (typeof eventSignalTopics)[number];

/** Signals by the name of the statement that writes events or deliveries; emitted after the statement's transaction. */
const topicsOfStatements: Readonly<Record<string, EventSignalTopic>> = {
  insert_event: 'written',
  insert_events: 'written',
  place_order_v4: 'written',
  redeliver_event: 'placed',
  redeliver_events: 'placed',
};

/** Poll interval that compensates for lost signals. */
const slowPollMs = 5_000;
/** Poll interval while this process receives no signals from other processes. */
const fallbackPollMs = 1_000;

/**
 * Signals between the process components that write, sequence, deliver and wait for events. Signals carry no data: listeners query the
 * database.
 */
export class EventSignals {
  /** Distinguishes this process's signals from those of other processes. */
  readonly processId = randomUUID();
  /** Whether this process receives all signals: other processes' signals arrive, or the database is embedded and has only one process. */
  receivesAllSignals: boolean;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  /** Runs listeners outside the context of the request that caused the signal, because they must not use that request's transaction. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  constructor(hearsOtherProcesses: boolean) {
    this.receivesAllSignals = hearsOtherProcesses;
  }

  /** Poll interval for changes that were not signaled. */
  get pollMs(): number {
    return this.receivesAllSignals ? slowPollMs : fallbackPollMs;
  }

  /** Adds a listener, and returns a function that removes it. */
  on(topic: EventSignalTopic, listener: () => void): () => void {
    this.#emitter.on(topic, listener);
    return () => void this.#emitter.off(topic, listener);
  }

  /** Adds a listener for this process's writes, which is called with each topic after the transaction. */
  onLocalWrite(listener: (topic: EventSignalTopic) => void): void {
    this.#emitter.on('own write', listener);
  }

  emit(topic: EventSignalTopic): void {
    this.#outsideRequests(() => this.#emitter.emit(topic));
  }

  emitLocalWrite(topic: EventSignalTopic): void {
    this.#outsideRequests(() => this.#emitter.emit('own write', topic));
    this.emit(topic);
  }
}

const signalsByConnection = new WeakMap<object, EventSignals>();

/** Returns the signals for the database that `em` uses. */
export function getEventSignals(em: EntityManager): EventSignals {
  const connection = em.getConnection();
  const existing = signalsByConnection.get(connection);
  if (existing) return existing;
  const isPostgresql = em.getDriver().getPlatform().supportsMultipleStatements();
  const signals = new EventSignals(!isPostgresql);
  signalsByConnection.set(connection, signals);
  emitAfterWrites(em, signals);
  return signals;
}

/**
 * Emits a signal when a connection that has written events is released, that is, after the commit. After a rollback, the signal is
 * unnecessary but harmless. PGlite has one shared connection and runs other queries only after the transaction, so an early signal is not
 * lost.
 */
function emitAfterWrites(em: EntityManager, signals: EventSignals): void {
  const writtenBy = new WeakMap<DatabaseConnection, Set<EventSignalTopic>>();
  const topicsOf = (connection: DatabaseConnection): Set<EventSignalTopic> => {
    const existing = writtenBy.get(connection);
    if (existing) return existing;
    const topics = new Set<EventSignalTopic>();
    writtenBy.set(connection, topics);
    const executeQuery = connection.executeQuery.bind(connection);
    connection.executeQuery = (query, ...more) => {
      const topic = topicsOfStatements[parseStatementName(query.sql) ?? ''];
      if (topic) topics.add(topic);
      return executeQuery(query, ...more);
    };
    return topics;
  };
  const executor = em.getConnection().getClient().getExecutor();
  const provideConnection = executor.provideConnection.bind(executor);
  executor.provideConnection = async (consumer, options) => {
    let topics: Set<EventSignalTopic> | undefined;
    try {
      return await provideConnection((connection) => {
        topics = topicsOf(connection);
        return consumer(connection);
      }, options);
    } finally {
      for (const topic of topics ?? []) {
        topics?.delete(topic);
        signals.emitLocalWrite(topic);
      }
    }
  };
}
