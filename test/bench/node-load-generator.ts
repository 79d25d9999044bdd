import { setTimeout as sleep } from 'node:timers/promises';
import { Connections, type Received } from '../load/connections.ts';
import { bytesOf, type Traffic } from './traffic.ts';

/** One of what is counted: whether it went well, and how long it took. */
export type Timed = { readonly ok: boolean; readonly ms: number };

/** As many as are answered, by so many callers who each wait for their answer. */
export async function closedLoop(origin: string, traffic: Traffic, callers: number, seconds: number): Promise<Timed[]> {
  const end = performance.now() + seconds * 1000;
  const all: Timed[] = [];
  using sender = new Sender(origin, traffic, callers);
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let begun = performance.now(); begun < end; begun = performance.now()) all.push(await sender.one(begun));
    }),
  );
  return all;
}

/** How often the generator looks what is due. */
const tickMs = 1;

/**
 * So many a second, however long the answers take. Time counts from the tick at which each was due, so that neither a server that
 * stalls nor a generator that is late makes anything look faster than it was.
 */
export async function constantRate(
  origin: string,
  traffic: Traffic,
  callers: number,
  seconds: number,
  perSecond: number,
): Promise<Timed[]> {
  const all: Promise<Timed>[] = [];
  using sender = new Sender(origin, traffic, callers);
  await sender.open();
  const begun = performance.now();
  const total = Math.max(1, Math.floor(seconds * perSecond));
  while (all.length < total) {
    const elapsed = performance.now() - begun;
    for (; all.length < total && (all.length / perSecond) * 1000 <= elapsed;)
      all.push(sender.one(begun + Math.ceil(((all.length / perSecond) * 1000) / tickMs) * tickMs));
    await sleep(tickMs);
  }
  return await Promise.all(all);
}

class Sender {
  readonly #traffic: Traffic;
  readonly #host: string;
  readonly #connections: Connections;
  /** Values of answers that wait to be used. */
  readonly #ready: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #idle: number;

  constructor(origin: string, traffic: Traffic, callers: number) {
    this.#traffic = traffic;
    this.#host = new URL(origin).host;
    this.#connections = new Connections(origin, callers);
    this.#idle = callers;
  }

  open(): Promise<void> {
    return this.#connections.openAll();
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }

  /** When a caller is free. What it sends is decided then: it may come of an answer that is not there before. */
  async one(dueAt: number): Promise<Timed> {
    if (this.#idle > 0) this.#idle -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const ok = await this.#exchange();
    const waiting = this.#waiting.shift();
    if (waiting) waiting();
    else this.#idle += 1;
    return { ok, ms: Math.max(0, performance.now() - dueAt) };
  }

  async #exchange(): Promise<boolean> {
    const { first, next } = this.#traffic;
    const value = this.#ready.shift();
    const answer = await this.#send(value === undefined || !next ? first() : next.shot(value));
    const found = next && valueIn(answer, next.found);
    if (next?.together) return found !== undefined && isGood(await this.#send(next.shot(found)));
    if (found !== undefined) this.#ready.push(found);
    return isGood(answer);
  }

  #send(shot: Parameters<typeof bytesOf>[0]): Promise<Received> {
    return this.#connections.send(bytesOf(shot, this.#host));
  }
}

const isGood = ({ status }: Received): boolean => status >= 200 && status < 300;

function valueIn({ bytes }: Received, found: NonNullable<Traffic['next']>['found']): string | undefined {
  const whole = bytes.toString('latin1');
  const text = found.in === 'body' ? whole.slice(whole.indexOf('\r\n\r\n')) : (/\r\nlocation: ([^\r]*)/i.exec(whole)?.[1] ?? '');
  const from = text.indexOf(found.after);
  if (from === -1) return undefined;
  const rest = text.slice(from + found.after.length);
  const end = rest.indexOf(found.until);
  return end === -1 ? rest : rest.slice(0, end);
}
