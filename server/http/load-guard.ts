import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { noteOf } from './note.ts';

export type LoadLimits = {
  /** Requests that are worked on at once. */
  readonly atOnce: number;
  /** While there are more than can be done: then more at once only means that each takes longer. */
  readonly atOnceOverloaded: number;
  /** So many may wait for their turn before the server counts as overloaded, and so many in any case. */
  readonly crowdMax: number;
  readonly waitingMax: number;
  /** How long each waits for its turn, usually and while the server is overloaded. */
  readonly waitMs: number;
  readonly overloadedWaitMs: number;
  /** How long the work may take, and how long the body to come in, besides what its length takes on a slow line. */
  readonly answerMs: number;
  readonly bodyMs: number;
};

export const usualLoadLimits: LoadLimits = {
  // more than there are connections to the database: what is read by many at once is read by one query
  atOnce: 32,
  atOnceOverloaded: 4,
  crowdMax: 250,
  waitingMax: 1_000,
  waitMs: 10_000,
  overloadedWaitMs: 50,
  answerMs: 30_000,
  bodyMs: 30_000,
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
};

type Waiting = { readonly req: IncomingMessage; readonly res: ServerResponse; readonly handler: RequestListener; readonly since: number };

const tickMs = 50;
const sweepMs = 25;
/** Overloaded for so long after more waited than are worked on at once. */
const calmMs = 1_000;
const slowestBytesPerMs = 100;
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
 * Lets so many requests in as the server can work on, a crowd wait its turn, and refuses the rest within a moment: a queue without
 * end would make everybody wait for answers that nobody waits for any more. Whoever is slow to send or to read holds no place.
 */
export class LoadGuard {
  readonly #limits: LoadLimits;
  readonly #refuse: Refuse;
  readonly #running = new Set<Work>();
  readonly #waiting: Waiting[] = [];
  readonly #ticking: NodeJS.Timeout;
  #working = 0;
  #overloadedUntil = Number.NEGATIVE_INFINITY;
  readonly #refused = { overloaded: 0, 'no answer': 0, 'no body': 0 };
  #sweeping: NodeJS.Timeout | undefined;

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
    if (this.#waiting.length >= this.#limits.waitingMax) return this.#refuse(req, res, 'overloaded');
    this.#waiting.push({ req, res, handler, since: performance.now() });
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs).unref();
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
    clearInterval(this.#sweeping);
  }

  #hasPlace(): boolean {
    return this.#working < (this.#isOverloaded() ? this.#limits.atOnceOverloaded : this.#limits.atOnce);
  }

  #start(req: IncomingMessage, res: ServerResponse, handler: RequestListener): void {
    const work: Work = { req, res, state: 'working', since: performance.now() };
    running.set(res, { guard: this, work });
    this.#running.add(work);
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
    const held = work.state === 'working';
    work.state = 'done';
    this.#running.delete(work);
    if (held) this.#release();
  }

  #release(): void {
    this.#working -= 1;
    this.#sweep();
    while (this.#hasPlace()) {
      // when there are more than can be done, whoever came last is the only one who can be served promptly
      const next = this.#isOverloaded() ? this.#waiting.pop() : this.#waiting.shift();
      if (!next) return this.#rest();
      if (!next.res.destroyed && !next.req.destroyed) this.#start(next.req, next.res, next.handler);
    }
  }

  #isOverloaded = (): boolean => performance.now() < this.#overloadedUntil;

  /** Refuses those who have waited long enough: the oldest stand in front. */
  #sweep(): void {
    const now = performance.now();
    const waiting = this.#waiting.length;
    const { crowdMax, atOnce, waitMs, overloadedWaitMs } = this.#limits;
    if (waiting > crowdMax || (this.#isOverloaded() && waiting > atOnce)) this.#overloadedUntil = now + calmMs;
    const oldest = now - (this.#isOverloaded() ? overloadedWaitMs : waitMs);
    const kept = this.#waiting.findIndex(({ since }) => since >= oldest);
    for (const { req, res } of this.#waiting.splice(0, kept === -1 ? waiting : kept)) this.#refuse(req, res, 'overloaded');
  }

  /** Nobody waits any more. */
  #rest(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #tick(): void {
    const now = performance.now();
    for (const work of this.#running) this.#look(work, now);
  }

  #look(work: Work, now: number): void {
    const { req, res, state, since } = work;
    const length = Number(req.headers['content-length'] ?? Number.POSITIVE_INFINITY);
    if (state === 'receiving' && req.complete) return this.goOn(work);
    if (state === 'working' && !req.complete) {
      work.state = 'receiving';
      return this.#release();
    }
    if (state === 'receiving' && now - since > this.#limits.bodyMs + length / slowestBytesPerMs) this.#refuse(req, res, 'no body');
    if (state === 'working' && now - since > this.#limits.answerMs) this.#refuse(req, res, 'no answer');
  }
}
