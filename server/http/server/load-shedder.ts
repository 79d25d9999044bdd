import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { slowestUpload } from '@mandate/contract';
import { noteOf } from '../../memory/object-metadata.ts';

export type LoadLimits = {
  /** Requests that are worked on at once, and that wait for their turn. More than that, and the server is overloaded. */
  readonly atOnce: number;
  readonly waitingMax: number;
  /** The same while it is: then more at once only means that each takes longer. */
  readonly atOnceOverloaded: number;
  readonly waitingOverloaded: number;
  /** How long each waits for its turn. */
  readonly waitMs: number;
  /** How long the work may take, and how long the body to come in, besides what its length takes on a slow line. */
  readonly answerMs: number;
  readonly bodyMs: number;
};

export const usualLoadLimits: LoadLimits = {
  // more than there are connections to the database: what is read by many at once is read by one query
  atOnce: 32,
  waitingMax: 200,
  atOnceOverloaded: 3,
  waitingOverloaded: 4,
  waitMs: 10_000,
  answerMs: 30_000,
  bodyMs: slowestUpload.graceSeconds * 1000,
};

type Refusal = 'overloaded' | 'no answer' | 'no body';
/** Writes a refusal instead of the handler. */
export type Refuse = (req: IncomingMessage, res: ServerResponse, why: Refusal) => void;

type Work = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Holds a place; does not, because its body is still on the way; or because it waits for something that is no work. */
  state: 'working' | 'receiving' | 'resting' | 'done';
  since: number;
  /** Bytes that the connection had received before. */
  readonly receivedBefore: number;
  /** Where it is among those that run. */
  at: number;
};

type Waiting = { readonly req: IncomingMessage; readonly res: ServerResponse; readonly handler: RequestListener; readonly since: number };

const tickMs = 50;
/** So often it is looked whether the server is overloaded still. */
const judgedEveryMs = 500;
const slowestBytesPerMs = slowestUpload.bytesPerSecond / 1000;
/** A handler that never answers somebody who has left. */
const leftMs = 1_000;

const running = noteOf<{ guard: LoadGuard; work: Work }>('work');

/** While a request waits for something that is no work, such as news, another has its place. */
export async function resting<Result>(res: object, waiting: Promise<Result>): Promise<Result> {
  const found = running.get(res);
  found?.guard.rest(found.work);
  try {
    return await waiting;
  } finally {
    found?.guard.goOn(found.work);
  }
}

/**
 * Lets so many requests in as the server can work on, a crowd wait its turn, and refuses the rest at once: a queue without end
 * would make everybody wait for answers that nobody waits for any more. Whoever is slow to send or to read holds no place.
 */
export class LoadGuard {
  readonly #limits: LoadLimits;
  readonly #refuse: Refuse;
  /** Not a `Set`, whose old tables would keep alive all that was in them (see `noteOf`). */
  readonly #running: Work[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #ticking: NodeJS.Timeout;
  #working = 0;
  #overloaded = false;
  /** Whose connections brought a request since the server was overloaded, or that was last looked at. */
  #callers = new Set<object>();
  #judgedAt = 0;
  readonly #refused = { overloaded: 0, 'no answer': 0, 'no body': 0 };

  constructor(limits: LoadLimits, refuse: Refuse) {
    this.#limits = limits;
    this.#refuse = (req, res, why) => {
      this.#refused[why] += 1;
      refuse(req, res, why);
    };
    this.#ticking = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** How many requests are worked on, wait, and were refused since the start. */
  get counts(): { readonly working: number; readonly waiting: number; readonly refused: Readonly<Record<Refusal, number>> } {
    return { working: this.#working, waiting: this.#waiting.length, refused: this.#refused };
  }

  handle(req: IncomingMessage, res: ServerResponse, handler: RequestListener): void {
    if (this.#hasPlace() && this.#waiting.length === 0) return this.#start(req, res, handler);
    this.#waiting.push({ req, res, handler, since: performance.now() });
    if (!this.#overloaded && this.#waiting.length > this.#limits.waitingMax) [this.#overloaded, this.#judgedAt] = [true, performance.now()];
    if (this.#overloaded) this.#refuseCrowd(req);
  }

  rest(work: Work): void {
    if (work.state !== 'working') return;
    work.state = 'resting';
    this.#release();
  }

  goOn(work: Work): void {
    if (work.state === 'done' || work.state === 'working') return;
    [work.state, work.since] = ['working', performance.now()];
    this.#working += 1;
  }

  close(): void {
    clearInterval(this.#ticking);
  }

  #hasPlace(): boolean {
    return this.#working < (this.#overloaded ? this.#limits.atOnceOverloaded : this.#limits.atOnce);
  }

  #start(req: IncomingMessage, res: ServerResponse, handler: RequestListener): void {
    const work: Work = {
      req,
      res,
      state: 'working',
      since: performance.now(),
      receivedBefore: req.socket.bytesRead,
      at: this.#running.length,
    };
    running.set(res, { guard: this, work });
    this.#running.push(work);
    this.#working += 1;
    // the work is done when the answer begins: how long it takes to read is up to the caller
    const writeHead = res.writeHead.bind(res);
    Reflect.set(res, 'writeHead', (...head: Parameters<typeof writeHead>) => {
      this.#finish(work);
      return writeHead(...head);
    });
    res.once('close', () => {
      if (work.state !== 'done') setTimeout(() => this.#finish(work), leftMs).unref();
    });
    handler(req, res);
  }

  #finish(work: Work): void {
    if (work.state === 'done') return;
    const held = work.state === 'working';
    work.state = 'done';
    const last = this.#running.pop();
    // the last one takes its place
    if (last && last !== work) [this.#running[work.at], last.at] = [last, work.at];
    if (held) this.#release();
  }

  #release(): void {
    this.#working -= 1;
    while (this.#hasPlace()) {
      // when there are more than can be done, whoever came last is the only one who can be served promptly
      const next = this.#overloaded ? this.#waiting.pop() : this.#waiting.shift();
      if (!next) return;
      if (!next.res.destroyed && !next.req.destroyed) this.#start(next.req, next.res, next.handler);
    }
  }

  /** All but the few that can be served promptly: the oldest stand in front. */
  #refuseCrowd({ socket }: IncomingMessage): void {
    this.#callers.add(socket);
    const crowd = this.#waiting.splice(0, Math.max(0, this.#waiting.length - this.#limits.waitingOverloaded));
    for (const { req, res } of crowd) this.#refuse(req, res, 'overloaded');
  }

  /** It is over when all who still call could wait for their turn, however often those call who do not wait after a refusal. */
  #judge(now: number): void {
    if (!this.#overloaded || now - this.#judgedAt < judgedEveryMs) return;
    this.#overloaded = this.#callers.size > this.#limits.waitingMax;
    this.#judgedAt = now;
    this.#callers.clear();
  }

  // whoever takes the place of one that ends while it is looked at is looked at the next time
  #tick(): void {
    const now = performance.now();
    for (const work of this.#running) this.#look(work, now);
    this.#judge(now);
    const kept = this.#waiting.findIndex(({ since }) => now - since <= this.#limits.waitMs);
    for (const { req, res } of this.#waiting.splice(0, kept === -1 ? this.#waiting.length : kept)) this.#refuse(req, res, 'overloaded');
  }

  #look(work: Work, now: number): void {
    const { req, res, state, since, receivedBefore } = work;
    // A body of unknown length has the time that the part takes which has arrived.
    const length = Number(req.headers['content-length'] ?? req.socket.bytesRead - receivedBefore);
    if (state === 'receiving' && req.complete) return this.goOn(work);
    if (state === 'working' && !req.complete) {
      work.state = 'receiving';
      return this.#release();
    }
    if (state === 'receiving' && now - since > this.#limits.bodyMs + length / slowestBytesPerMs) this.#refuse(req, res, 'no body');
    if (state === 'working' && now - since > this.#limits.answerMs) this.#refuse(req, res, 'no answer');
  }
}
