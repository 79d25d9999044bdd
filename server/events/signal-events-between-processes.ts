import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { openDatabaseWithEntities } from '../database/open-database-with-entities.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { isBehindConnectionPooler } from '../database/connection/connection-timeouts-and-pooler-detection.ts';
import type { Log } from '../logging/logger.ts';
import { listenToEventChannelQuery, notifyEventChannel } from './notify-and-listen-to-event-channel.sql.ts';
import { type EventSignals, type EventSignalTopic, getEventSignalsOfDatabase, eventSignalTopics } from './event-signals.ts';

const throughPoolerMessage =
  'Events of other processes are polled for every second, because LISTEN does not work through a connection pooler: set DATABASE_DIRECT_URL';

const payloadOf = (em: EntityManager, topic: EventSignalTopic): string => `${topic} ${getEventSignalsOfDatabase(em).processId}`;

/**
 * Sends a signal to other processes when the transaction commits. PostgreSQL serializes the commits of transactions that execute NOTIFY.
 * Therefore, call this function only in the transaction that assigns sequence numbers (only one such transaction runs at a time), and never
 * in a transaction that places orders.
 */
export const notifyOtherProcessesOnCommit = (em: EntityManager, topic: EventSignalTopic): Promise<void> =>
  notifyEventChannel(em, [payloadOf(em, topic)]);

/** Minimum time between two notifications from one process on the same topic. */
const notifyEveryMs = 20;

/**
 * Notifies other processes of events that this process has written. This function is for processes that neither sequence nor deliver
 * events. Notifications are sent after the commit, at most every 20 ms. A lost notification delays an event until the next poll.
 */
export function startNotifyingOtherProcessesOfLocalWrites(em: EntityManager, log: Log): void {
  const pending = new Map<EventSignalTopic, { again: boolean }>();
  const send = async (topic: EventSignalTopic): Promise<void> => {
    const state = pending.get(topic);
    if (state) {
      state.again = true;
      return;
    }
    const sending = { again: false };
    pending.set(topic, sending);
    const detachedEm = em.fork({ disableContextResolution: true });
    await notifyEventChannel(detachedEm, [payloadOf(em, topic)]).catch((error: unknown) =>
      log.debug({ err: error }, 'a notification about events was not sent'),
    );
    await sleep(notifyEveryMs, undefined, { ref: false });
    pending.delete(topic);
    if (sending.again) await send(topic);
  };
  getEventSignalsOfDatabase(em).onLocalWrite((topic) => void send(topic));
}

const reconnectAfterMs = 1_000;
/** Interval between checks for a connection that was lost without an error. */
const checkEveryMs = 30_000;

/**
 * Thrown if the connection goes through a pooler. A pooler can assign the session to another client after each transaction, but LISTEN
 * requires a dedicated session.
 */
class ThroughPoolerError extends Error {}

/** Receives signals from other processes over a dedicated connection (LISTEN), and reconnects if the connection is lost. */
export class InterProcessEventSignalListener {
  readonly #pool: Pool;
  readonly #signals: EventSignals;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(pool: Pool, signals: EventSignals, log: Log) {
    [this.#pool, this.#signals, this.#log] = [pool, signals, log];
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    let isWarned = false;
    const onListening = (): void => {
      if (isWarned) this.#log.info('event notifications are working again');
      isWarned = false;
    };
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#listen(onListening);
      } catch (error) {
        if (error instanceof ThroughPoolerError) return this.#log.warn(error.message);
        if (!isWarned) this.#log.warn({ err: error }, 'event notifications are unavailable: polling every second until they work again');
        isWarned = true;
      } finally {
        this.#setReceiving(false);
      }
      await sleep(reconnectAfterMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  /** Listens until the process stops. Throws when the connection is lost. */
  async #listen(onListening: () => void): Promise<void> {
    const client = await this.#pool.connect();
    const lost = new AbortController();
    client
      .on('error', () => lost.abort())
      .on('end', () => lost.abort())
      .on('notification', ({ payload }) => this.#receive(payload));
    try {
      if (isBehindConnectionPooler(client)) throw new ThroughPoolerError(throughPoolerMessage);
      await client.query(listenToEventChannelQuery);
      this.#setReceiving(true);
      onListening();
      const over = AbortSignal.any([lost.signal, this.#stopping.signal]);
      while (!over.aborted) {
        await sleep(checkEveryMs, undefined, { signal: over }).catch(() => undefined);
        if (!over.aborted) await client.query(listenToEventChannelQuery);
      }
      if (lost.signal.aborted) throw new Error('the connection for notifications about events was lost');
    } finally {
      client.release(true);
    }
  }

  /**
   * Records whether signals are being received. After a change, emits every signal once, because signals may have been missed and because
   * the poll interval changes.
   */
  #setReceiving(receives: boolean): void {
    if (this.#signals.receivesAllSignals === receives) return;
    this.#signals.receivesAllSignals = receives;
    for (const topic of eventSignalTopics) this.#signals.emit(topic);
  }

  #receive(payload: string | undefined): void {
    const [topic, processId] = payload?.split(' ') ?? [];
    const known = eventSignalTopics.find((one) => one === topic);
    if (known && processId !== this.#signals.processId) this.#signals.emit(known);
  }
}

/**
 * Starts receiving signals from other processes. Returns when the first connection attempt has started, so that an unavailable PostgreSQL
 * does not delay the start.
 * @param url URL of PostgreSQL itself if it is known, otherwise of the connection pooler
 */
export async function startReceivingSignalsOfOtherProcesses(em: EntityManager, url: string, log: Log): Promise<AsyncDisposable> {
  const { promise: opened, resolve: onPool } = Promise.withResolvers<Pool>();
  const db = await openDatabaseWithEntities(url, { entities: [], timeouts: 'none', connectionsMax: 1, preparedStatements: false, onPool });
  const listener = new InterProcessEventSignalListener(await opened, getEventSignalsOfDatabase(em), log);
  return {
    async [Symbol.asyncDispose]() {
      await listener.stop();
      await db.close();
    },
  };
}
