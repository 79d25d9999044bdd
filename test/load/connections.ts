import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const headEnd = Buffer.from('\r\n\r\n');

/** `status` is 0, and `bytes` are none, when no answer came; otherwise they are all of it, the head too. */
export type Received = { readonly status: number; readonly bytes: Buffer };
const nothing: Received = { status: 0, bytes: Buffer.alloc(0) };

/** One connection that carries one request after the other. It reads no more of an answer than where it ends: so it costs the machine little. */
class Connection {
  readonly #socket: Socket;
  readonly #onFree: (connection: Connection) => void;
  #done: ((answer: Received) => void) | undefined;
  #received: Buffer = nothing.bytes;

  constructor(origin: URL, onFree: (connection: Connection) => void) {
    this.#onFree = onFree;
    this.#socket = connect({ host: origin.hostname, port: Number(origin.port), noDelay: true });
    this.#socket.on('data', (bytes) => this.#receive(bytes));
    this.#socket.on('error', () => undefined).on('close', () => this.#finish(nothing));
  }

  send(request: string, done: (answer: Received) => void): void {
    this.#done = done;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  get open(): boolean {
    return !this.#socket.destroyed;
  }

  #receive(more: Buffer): void {
    this.#received = this.#received.length === 0 ? more : Buffer.concat([this.#received, more]);
    const end = this.#received.indexOf(headEnd);
    if (end === -1) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (this.#received.length < end + headEnd.length + length) return;
    const bytes = this.#received;
    this.#received = nothing.bytes;
    this.#finish({ status: Number(head.slice(9, 12)), bytes });
  }

  #finish(answer: Received): void {
    const done = this.#done;
    this.#done = undefined;
    this.#onFree(this);
    done?.(answer);
  }
}

type Asked = { readonly request: string; readonly done: (answer: Received) => void };

/** So many callers, each with a connection of its own that stays open: who finds all of them busy waits for the first that is free. */
export class Connections {
  readonly #origin: URL;
  readonly #max: number;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  readonly #waiting: Asked[] = [];

  constructor(origin: string, max: number) {
    this.#origin = new URL(origin);
    this.#max = max;
  }

  /** Sends the bytes of one request; resolves with its answer, which has a `Content-Length`. */
  send(request: string): Promise<Received> {
    const { promise, resolve } = Promise.withResolvers<Received>();
    this.#waiting.push({ request, done: resolve });
    this.#next();
    return promise;
  }

  /** Opens all of them, a few at a time: what is measured is not how they are opened. */
  async openAll(): Promise<void> {
    while (this.#all.size < this.#max) {
      this.#free.push(this.#made());
      if (this.#all.size % 10 === 0) await sleep(5);
    }
  }

  [Symbol.dispose](): void {
    for (const connection of this.#all) connection.close();
  }

  #next(): void {
    const connection = this.#openOne();
    const asked = connection && this.#waiting.shift();
    if (asked) connection.send(asked.request, asked.done);
  }

  #openOne(): Connection | undefined {
    for (let free = this.#free.shift(); free; free = this.#free.shift()) {
      if (free.open) return free;
      this.#all.delete(free);
    }
    if (this.#all.size >= this.#max) return undefined;
    return this.#made();
  }

  #made(): Connection {
    const made = new Connection(this.#origin, (free) => {
      this.#free.push(free);
      if (this.#waiting.length > 0) this.#next();
    });
    this.#all.add(made);
    return made;
  }
}
