import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const headEnd = Buffer.from('\r\n\r\n');

/** A whole response, including its head. If no response was received, `status` is 0 and `bytes` is empty. */
export type Received = { readonly status: number; readonly bytes: Buffer };
const noResponse: Received = { status: 0, bytes: Buffer.alloc(0) };

/** A connection that sends one request after another. To save CPU time, only the end of each response is parsed. */
class Connection {
  readonly #socket: Socket;
  readonly #onFree: (connection: Connection) => void;
  #done: ((response: Received) => void) | undefined;
  #received: Buffer = noResponse.bytes;

  constructor(origin: URL, onFree: (connection: Connection) => void) {
    this.#onFree = onFree;
    this.#socket = connect({ host: origin.hostname, port: Number(origin.port), noDelay: true });
    this.#socket.on('data', (bytes) => this.#receive(bytes));
    this.#socket.on('error', () => undefined).on('close', () => this.#finish(noResponse));
  }

  send(request: string, done: (response: Received) => void): void {
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
    this.#received = noResponse.bytes;
    if (/\r\nconnection: close/i.test(head)) this.#socket.destroy();
    this.#finish({ status: Number(head.slice(9, 12)), bytes });
  }

  #finish(response: Received): void {
    const done = this.#done;
    this.#done = undefined;
    this.#onFree(this);
    done?.(response);
  }
}

type PendingRequest = { readonly request: string; readonly done: (response: Received) => void };

/** A pool of `max` persistent connections. A request waits if all connections are busy. */
export class Connections {
  readonly #origin: URL;
  readonly #max: number;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  readonly #waiting: PendingRequest[] = [];

  constructor(origin: string, max: number) {
    this.#origin = new URL(origin);
    this.#max = max;
  }

  /** Sends a serialized request and returns its response, which must have a `Content-Length`. */
  send(request: string): Promise<Received> {
    const { promise, resolve } = Promise.withResolvers<Received>();
    this.#waiting.push({ request, done: resolve });
    this.#next();
    return promise;
  }

  /** Opens all connections before the measurement, a few at a time. */
  async openAll(): Promise<void> {
    while (this.#all.size < this.#max) {
      this.#free.push(this.#openConnection());
      if (this.#all.size % 10 === 0) await sleep(5);
    }
  }

  [Symbol.dispose](): void {
    for (const connection of this.#all) connection.close();
  }

  #next(): void {
    const connection = this.#idleOrNewConnection();
    const pending = connection && this.#waiting.shift();
    if (pending) connection.send(pending.request, pending.done);
  }

  #idleOrNewConnection(): Connection | undefined {
    for (let free = this.#free.shift(); free; free = this.#free.shift()) {
      if (free.open) return free;
      this.#all.delete(free);
    }
    if (this.#all.size >= this.#max) return undefined;
    return this.#openConnection();
  }

  #openConnection(): Connection {
    const connection = new Connection(this.#origin, (free) => {
      this.#free.push(free);
      if (this.#waiting.length > 0) this.#next();
    });
    this.#all.add(connection);
    return connection;
  }
}
