import type { Em } from '../database/orm.ts';
import { statement } from '../database/statement.ts';

const readLast = statement<{ last_seq: number }>('read_event_sequence', 'select last_seq from event_sequence');

const lookEveryMs = 100;

/** What the handlers of events are made with. */
export type EventDeps = { readonly newEvents: NewEvents };

type Waiter = { readonly after: number; readonly wake: () => void };

/**
 * Where requests wait for the next event. However many they are, one query a tenth of a second serves them all, whichever process
 * the event came by; nobody waits, nobody asks.
 */
export class NewEvents {
  readonly #em: Em;
  readonly #waiting = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(em: Em) {
    this.#em = em;
  }

  /** Comes back when there is an event after this one, when time is up, or when the signal says so: look for yourself which. */
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
      this.#lookSoon();
    });
  }

  /** Sends everybody back who waits, and lets nobody wait any more: the server is about to end. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const { wake } of this.#waiting) wake();
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  #lookSoon(): void {
    if (this.#timer !== undefined || this.#stopped || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => {
        this.#timer = undefined;
        this.#lookSoon();
      });
    }, lookEveryMs);
  }

  async #look(): Promise<void> {
    // Without an answer everybody asks for themselves, and learns what is wrong.
    const [row] = await readLast(this.#em.fork(), []).catch(() => [{ last_seq: Infinity }]);
    for (const { after, wake } of this.#waiting) if ((row?.last_seq ?? 0) > after) wake();
  }
}
