import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { EventSequenceCounter } from './event-and-sequence-counter.entity.ts';
import { type EventSignals, getEventSignalsOfDatabase } from './event-signals.ts';

/** Additional dependencies of the event handlers. */
export type EventHandlerDependencies = { readonly newEvents: EventLongPoller };

type Waiter = { readonly after: number; readonly wake: () => void };

/**
 * Lets requests wait for the next event (long polling). One query serves all waiting requests. The query runs when a request starts to
 * wait. While requests are waiting, the query also runs after each signal about new events and at the poll interval.
 */
export class EventLongPoller {
  readonly #em: EntityManager;
  readonly #signals: EventSignals;
  readonly #waiting = new Set<Waiter>();
  readonly #unsubscribe: () => void;
  #poll: NodeJS.Timeout | undefined;
  #isChecking = false;
  #again = false;
  #stopped = false;

  constructor(em: EntityManager) {
    this.#em = em;
    this.#signals = getEventSignalsOfDatabase(em);
    this.#unsubscribe = this.#signals.on('placed', () => this.#check());
  }

  /**
   * Resolves when there is an event after this sequence number, the time has elapsed or the signal is aborted. The caller must check which
   * of these conditions is met.
   */
  wait(after: number, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#stopped || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiting.delete(waiter);
        resolve();
      };
      const waiter = { after, wake: done };
      const timer = setTimeout(done, milliseconds);
      signal.addEventListener('abort', done);
      this.#waiting.add(waiter);
      // An event may have been committed since the caller's last query.
      this.#check();
    });
  }

  /** Wakes all waiting requests and prevents further requests from waiting, because the server is stopping. */
  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    clearTimeout(this.#poll);
    for (const { wake } of this.#waiting) wake();
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  #check(): void {
    if (this.#stopped || this.#waiting.size === 0) return;
    this.#again = true;
    if (!this.#isChecking) void this.#wakeAll();
  }

  async #wakeAll(): Promise<void> {
    clearTimeout(this.#poll);
    this.#isChecking = true;
    while (this.#again) {
      this.#again = false;
      // After an error, every waiting request is woken; its next query reports the error.
      const sequence = this.#em.fork({ disableContextResolution: true }).findOne(EventSequenceCounter, { id: 1 });
      const { lastSeq } = (await sequence.catch(() => ({ lastSeq: Infinity }))) ?? { lastSeq: 0 };
      for (const { after, wake } of this.#waiting) if (lastSeq > after) wake();
    }
    this.#isChecking = false;
    if (this.#waiting.size > 0 && !this.#stopped) this.#poll = setTimeout(() => this.#check(), this.#signals.pollMs);
  }
}
