import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { DatabaseConnection, Transaction } from 'kysely';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';

/**
 * `written` means that there are committed events without a sequence number. `placed` means that events have received sequence numbers or
 * that deliveries have become pending.
 */
export const eventSignalTopics = ['written', 'placed'] as const;
export type EventSignalTopic = (typeof eventSignalTopics)[number];

/** Poll interval that compensates for lost signals. */
const slowPollMs = 5_000;
/** Poll interval while this process receives no signals from other processes. */
const fallbackPollMs = 1_000;

/**
 * Signals between the process components that write, sequence, deliver and wait for events. Signals carry no data, so listeners query the
 * database.
 */
export class EventSignals {
  /** Distinguishes this process's signals from those of other processes. */
  readonly processId = randomUUID();
  /**
   * Whether this process receives all signals. A process receives all signals if it receives the signals of other processes, or if it is
   * the only process that uses an embedded database.
   */
  receivesAllSignals: boolean;
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  /** Runs listeners outside the context of the request that triggered the signal, because they must not use that request's transaction. */
  readonly #outsideRequests = AsyncLocalStorage.snapshot();

  constructor(hearsOtherProcesses: boolean) {
    this.receivesAllSignals = hearsOtherProcesses;
  }

  /** Interval for polling the database for changes that were not signaled. */
  get pollMs(): number {
    return this.receivesAllSignals ? slowPollMs : fallbackPollMs;
  }

  /** Adds a listener, and returns a function that removes it. */
  on(topic: EventSignalTopic, listener: () => void): () => void {
    this.#emitter.on(topic, listener);
    return () => void this.#emitter.off(topic, listener);
  }

  /** Adds a listener for this process's writes. The listener is called with each topic after the transaction. */
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
export function getEventSignalsOfDatabase(em: EntityManager): EventSignals {
  const connection = em.getConnection();
  const existing = signalsByConnection.get(connection);
  if (existing) return existing;
  const isPostgresql = em.getDriver().getPlatform().supportsMultipleStatements();
  const signals = new EventSignals(!isPostgresql);
  signalsByConnection.set(connection, signals);
  emitAfterTransactions(em, signals);
  return signals;
}

/** Topics to signal when the connection's transaction ends. */
const topicsByConnection = new WeakMap<DatabaseConnection, Set<EventSignalTopic>>();

/**
 * Signals a write when the current transaction ends, or immediately if there is no transaction. Every function that writes events or makes
 * deliveries pending calls this function after the write. After a rollback, the signal is unnecessary but harmless.
 */
export async function emitEventSignalAfterCommit(em: EntityManager, topic: EventSignalTopic): Promise<void> {
  const signals = getEventSignalsOfDatabase(em);
  const transaction = em.getTransactionContext<Transaction<unknown>>();
  if (!transaction) return signals.emitLocalWrite(topic);
  await transaction.getExecutor().provideConnection(async (connection) => {
    const topics = topicsByConnection.get(connection) ?? new Set();
    topicsByConnection.set(connection, topics.add(topic));
  });
}

/**
 * Emits the signals of a transaction when the transaction's connection is released, that is, after the commit. PGlite has one shared
 * connection and runs other queries only after the transaction, so an early signal is not lost.
 */
function emitAfterTransactions(em: EntityManager, signals: EventSignals): void {
  const executor = em.getConnection().getClient().getExecutor();
  const provideConnection = executor.provideConnection.bind(executor);
  executor.provideConnection = async (consumer, options) => {
    let used: DatabaseConnection | undefined;
    try {
      return await provideConnection((connection) => {
        used = connection;
        return consumer(connection);
      }, options);
    } finally {
      const topics = used && topicsByConnection.get(used);
      if (used) topicsByConnection.delete(used);
      for (const topic of topics ?? []) signals.emitLocalWrite(topic);
    }
  };
}
