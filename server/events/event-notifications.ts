import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { openOrm } from '../database/open-orm.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { laterStatement, statement } from '../database/queries/prepared-statement.ts';
import { isThroughPooler } from '../database/connection/database-timeouts.ts';
import type { Log } from '../logging/logger.ts';
import { type EventSignals, type EventTopic, eventSignals, eventTopics } from './event-signals.ts';

const channel = 'mandate_events';
const throughPooler =
  'Events of other processes are polled for every second, because LISTEN does not work through a connection pooler: set DATABASE_DIRECT_URL';

const notifySql = `select pg_notify('${channel}', $1)`;
const notify = statement('notify_processes', notifySql);
const notifyWithCommit = laterStatement('notify_processes_with_commit', notifySql);
const payloadOf = (em: Em, topic: EventTopic): string => `${topic} ${eventSignals(em).processId}`;

/**
 * Sends a signal to other processes with the commit of a transaction. PostgreSQL commits transactions with a NOTIFY one at a time: only
 * for the transaction of the sequencer, which is the only one of its kind, and never for one that places orders.
 */
export const notifyOnCommit = (em: Em, topic: EventTopic): Promise<void> => notifyWithCommit(em, [payloadOf(em, topic)]);

/** Least time between two notifications on one topic by one process. */
const notifyEveryMs = 20;

/**
 * Tells other processes what this one has written, for a process that does not sequence and deliver events itself. Sent after the
 * commit, at most every 20 ms. A lost notification delays an event until the next poll.
 */
export function forwardOwnWrites(em: Em, log: Log): void {
  const pending = new Map<EventTopic, { again: boolean }>();
  const send = async (topic: EventTopic): Promise<void> => {
    const state = pending.get(topic);
    if (state) {
      state.again = true;
      return;
    }
    const sending = { again: false };
    pending.set(topic, sending);
    const outside = em.fork({ disableContextResolution: true });
    await notify(outside, [payloadOf(em, topic)]).catch((error: unknown) =>
      log.debug({ err: error }, 'a notification about events was not sent'),
    );
    await sleep(notifyEveryMs, undefined, { ref: false });
    pending.delete(topic);
    if (sending.again) await send(topic);
  };
  eventSignals(em).onOwnWrite((topic) => void send(topic));
}

const reconnectAfterMs = 1_000;
/** A connection that has died silently is noticed by the next check. */
const checkEveryMs = 30_000;
const check = { text: 'select 1', values: [], query_timeout: 5_000 };

/**
 * LISTEN needs a session of its own, which a connection pooler may give to other clients after each transaction.
 */
class ThroughPoolerError extends Error {}

/** Receives the signals of other processes over a connection of its own (LISTEN), and reconnects when the connection is lost. */
export class EventListener {
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
      if (isWarned) this.#log.info('notifications about events arrive again');
      isWarned = false;
    };
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#listen(onListening);
      } catch (error) {
        if (error instanceof ThroughPoolerError) return this.#log.warn(error.message);
        if (!isWarned) this.#log.warn({ err: error }, 'notifications about events do not arrive: polling every second until they do');
        isWarned = true;
      } finally {
        this.#setHearing(false);
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
      if (isThroughPooler(client)) throw new ThroughPoolerError(throughPooler);
      await client.query(`listen ${channel}`);
      this.#setHearing(true);
      onListening();
      const over = AbortSignal.any([lost.signal, this.#stopping.signal]);
      while (!over.aborted) {
        await sleep(checkEveryMs, undefined, { signal: over }).catch(() => undefined);
        if (!over.aborted) await client.query(check);
      }
      if (lost.signal.aborted) throw new Error('the connection for notifications about events was lost');
    } finally {
      client.release(true);
    }
  }

  /** Everything is checked once: for signals that were missed, and because polls have another interval from now on. */
  #setHearing(hears: boolean): void {
    if (this.#signals.hearsOtherProcesses === hears) return;
    this.#signals.hearsOtherProcesses = hears;
    for (const topic of eventTopics) this.#signals.emit(topic);
  }

  #receive(payload: string | undefined): void {
    const [topic, processId] = payload?.split(' ') ?? [];
    const known = eventTopics.find((one) => one === topic);
    if (known && processId !== this.#signals.processId) this.#signals.emit(known);
  }
}

/**
 * Receives the signals of other processes. Returns when the first attempt to connect has started, so that an unavailable PostgreSQL
 * does not delay the start.
 * @param url PostgreSQL, without a connection pooler if there is a URL for that
 */
export async function listenForEvents(em: Em, url: string, log: Log): Promise<AsyncDisposable> {
  const { promise: opened, resolve: onPool } = Promise.withResolvers<Pool>();
  const db = await openOrm(url, { entities: [], timeouts: 'none', connectionsMax: 1, preparedStatements: false, onPool });
  const listener = new EventListener(await opened, eventSignals(em), log);
  return {
    async [Symbol.asyncDispose]() {
      await listener.stop();
      await db.close();
    },
  };
}
