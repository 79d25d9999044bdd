import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { DatabaseConnection } from 'kysely';
import type { Em } from '../database/orm.ts';
import { statementName } from '../database/statement.ts';

/** `written`: committed events have no place yet. `placed`: events got their places, or deliveries became pending. */
export const eventTopics = ['written', 'placed'] as const;
export type EventTopic = (typeof eventTopics)[number];

/** Statements that write events or deliveries: a signal follows the end of their transaction. */
const topicsOfStatements: Readonly<Record<string, EventTopic>> = {
  insert_event: 'written',
  insert_events: 'written',
  place_order_v3: 'written',
  redeliver_event: 'placed',
  redeliver_events: 'placed',
};

/** The safety net for lost signals. */
const slowPollMs = 5_000;
/** While signals of other processes do not arrive here. */
const fallbackPollMs = 1_000;

/** Signals between the parts of a process that write, sequence, deliver and wait for events. They carry no data: listeners query the database. */
export class EventSignals {
  /** Tells the signals of this process from those of others. */
  readonly processId = randomUUID();
  /** Whether signals of other processes arrive here. An embedded database has one process. */
  hearsOtherProcesses: boolean;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  /** Listeners run outside of the request that caused the signal, because they must not use its transaction. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  constructor(hearsOtherProcesses: boolean) {
    this.hearsOtherProcesses = hearsOtherProcesses;
  }

  /** How often to poll for what no signal announced. */
  get pollMs(): number {
    return this.hearsOtherProcesses ? slowPollMs : fallbackPollMs;
  }

  /** Returns the function that removes the listener. */
  on(topic: EventTopic, listener: () => void): () => void {
    this.#emitter.on(topic, listener);
    return () => void this.#emitter.off(topic, listener);
  }

  /** Called with every topic that a transaction of this process concerns, after the transaction. */
  onOwnWrite(listener: (topic: EventTopic) => void): void {
    this.#emitter.on('own write', listener);
  }

  emit(topic: EventTopic): void {
    this.#outsideRequests(() => this.#emitter.emit(topic));
  }

  emitOwnWrite(topic: EventTopic): void {
    this.#outsideRequests(() => this.#emitter.emit('own write', topic));
    this.emit(topic);
  }
}

const signalsByConnection = new WeakMap<object, EventSignals>();

/** The signals of the database that `em` works on. */
export function eventSignals(em: Em): EventSignals {
  const connection = em.getConnection();
  const known = signalsByConnection.get(connection);
  if (known) return known;
  const isPostgresql = em.getDriver().getPlatform().supportsMultipleStatements();
  const signals = new EventSignals(!isPostgresql);
  signalsByConnection.set(connection, signals);
  emitAfterWrites(em, signals);
  return signals;
}

/**
 * Emits a signal when a connection is released that has written events: after the commit. After a rollback the signal is needless and
 * harmless. PGlite has one connection for all; it runs queries of others after the transaction, so that an early signal is not lost.
 */
function emitAfterWrites(em: Em, signals: EventSignals): void {
  const writtenBy = new WeakMap<DatabaseConnection, Set<EventTopic>>();
  const topicsOf = (connection: DatabaseConnection): Set<EventTopic> => {
    const known = writtenBy.get(connection);
    if (known) return known;
    const topics = new Set<EventTopic>();
    writtenBy.set(connection, topics);
    const executeQuery = connection.executeQuery.bind(connection);
    connection.executeQuery = (query, ...more) => {
      const topic = topicsOfStatements[statementName(query.sql) ?? ''];
      if (topic) topics.add(topic);
      return executeQuery(query, ...more);
    };
    return topics;
  };
  const executor = em.getConnection().getClient().getExecutor();
  const provideConnection = executor.provideConnection.bind(executor);
  executor.provideConnection = async (consumer, options) => {
    let topics: Set<EventTopic> | undefined;
    try {
      return await provideConnection((connection) => {
        topics = topicsOf(connection);
        return consumer(connection);
      }, options);
    } finally {
      for (const topic of topics ?? []) {
        topics?.delete(topic);
        signals.emitOwnWrite(topic);
      }
    }
  };
}
