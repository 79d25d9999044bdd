import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

export type LoadLimits = {
  /** Requests that are worked on at once, and while the event loop is busy: then more at once only means that each takes longer. */
  readonly atOnce: number;
  readonly atOnceBusy: number;
  /** Requests that wait for their turn. */
  readonly waitingMax: number;
  /** How long each waits when no more wait than are worked on at once, when a burst has come, and when the server has been behind for longer than that. */
  readonly fewMs: number;
  readonly burstMs: number;
  readonly behindMs: number;
  /** How long the work may take, and how long the body to come in, besides what its length takes on a slow line. */
  readonly answerMs: number;
  readonly bodyMs: number;
};

export const usualLoadLimits: LoadLimits = {
  // one and a half times as many as there are connections to the database
  atOnce: 15,
  atOnceBusy: 3,
  waitingMax: 1_000,
  fewMs: 10_000,
  burstMs: 500,
  behindMs: 50,
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
const busyAbove = 0.8;
const busyBelow = 0.6;
/** Behind for so long after there were more that waited than are worked on at once. */
const calmMs = 1_000;
const slowestBytesPerMs = 100;
/** A handler that never answers somebody who has left. */
const leftMs = 1_000;

const running = new WeakMap<object, { guard: LoadGuard; work: Work }>();

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
 * Lets so many requests in as the server can work on, a burst wait a moment, and refuses the rest at once: a queue without end
 * would make everybody wait for answers that nobody waits for any more. Whoever is slow to send or to read holds no place.
 */
export class LoadGuard {
  readonly #limits: LoadLimits;
  readonly #refuse: Refuse;
  readonly #running = new Set<Work>();
  readonly #waiting: Waiting[] = [];
  readonly #ticking: NodeJS.Timeout;
  #working = 0;
  readonly #refused = { overloaded: 0, 'no answer': 0, 'no body': 0 };
  /** When nobody had to wait long; and until when it counts as behind, because that is longer ago than a burst takes. */
  #promptAt = 0;
  #behindUntil = 0;
  #sweeping: NodeJS.Timeout | undefined;
  #busy = false;
  #loop = performance.eventLoopUtilization();

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
    const since = performance.now();
    if (this.#waiting.length === 0) this.#promptAt = since;
    this.#waiting.push({ req, res, handler, since });
    this.#sweeping ??= setInterval(() => this.#sweep(), this.#limits.behindMs).unref();
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
    return this.#working < (this.#busy ? this.#limits.atOnceBusy : this.#limits.atOnce);
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
    while (this.#hasPlace()) {
      // when all wait for long, whoever came last is the most likely to be still there, and the only one served promptly
      const newest = !this.#areFew() && (this.#isBehind() || this.#oldestMs() > this.#limits.burstMs / 5);
      const next = newest ? this.#waiting.pop() : this.#waiting.shift();
      if (!next) return this.#rest();
      if (!next.res.destroyed && !next.req.destroyed) this.#start(next.req, next.res, next.handler);
    }
    this.#sweep();
  }

  /** A few callers on a slow machine are no overload. */
  #areFew = (): boolean => this.#waiting.length <= this.#limits.atOnce;

  #oldestMs(): number {
    return performance.now() - (this.#waiting[0]?.since ?? Infinity);
  }

  /** Those who have waited long enough: the oldest stand in front. */
  #sweep(): void {
    const { fewMs, burstMs, behindMs } = this.#limits;
    const now = performance.now();
    const few = this.#areFew();
    if (few || this.#oldestMs() <= behindMs) this.#promptAt = now;
    if (now - this.#promptAt > burstMs) this.#behindUntil = now + calmMs;
    const oldest = now - (few ? fewMs : this.#isBehind() ? behindMs : burstMs);
    const kept = this.#waiting.findIndex(({ since }) => since >= oldest);
    const refused = this.#waiting.splice(0, kept === -1 ? this.#waiting.length : kept);
    if (!few && this.#isBehind()) this.#behindUntil = now + calmMs;
    for (const { req, res } of refused) this.#refuse(req, res, 'overloaded');
  }

  #isBehind = (): boolean => performance.now() < this.#behindUntil;

  /** Nobody waits any more. */
  #rest(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #tick(): void {
    const loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, this.#loop);
    this.#loop = loop;
    this.#busy = utilization > (this.#busy ? busyBelow : busyAbove);
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
