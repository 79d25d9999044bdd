import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { minUploadRate } from '@mandate/contract';
import { type ConcurrencySlot, getRequestContext } from '../request/request-context-principal-and-access-log.ts';

export type LoadLimits = {
  /**
   * Maximum number of concurrent requests and maximum number of queued requests. When the queue is full, the server is considered
   * overloaded.
   */
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  /** Lower limits that apply during overload, because more concurrency would only make every request slower. */
  readonly maxConcurrentOverloaded: number;
  readonly maxQueuedOverloaded: number;
  /** Maximum time in the queue. */
  readonly queueTimeoutMs: number;
  /** Maximum time for handling a request. */
  readonly handlerTimeoutMs: number;
  /** Maximum time for receiving a request body, in addition to the time that the body takes at the minimum upload rate. */
  readonly bodyTimeoutMs: number;
};

export const defaultLoadLimits: LoadLimits = {
  // This limit exceeds the number of database connections, because concurrent reads are batched into one query.
  maxConcurrent: 32,
  maxQueued: 200,
  maxConcurrentOverloaded: 3,
  maxQueuedOverloaded: 4,
  queueTimeoutMs: 10_000,
  handlerTimeoutMs: 30_000,
  bodyTimeoutMs: minUploadRate.graceSeconds * 1000,
};

type RejectionReason = 'overloaded' | 'no answer' | 'no body';
/** Writes the error response for a rejected request. */
export type WriteRejectionResponse = (req: IncomingMessage, res: ServerResponse, why: RejectionReason) => void;

type QueuedRequest = {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly handler: RequestListener;
  readonly since: number;
};

const tickMs = 50;
/** Interval for checking whether the overload has ended. */
const overloadCheckMs = 500;
const slowestBytesPerMs = minUploadRate.bytesPerSecond / 1000;
/** How long a request keeps its slot after the client has disconnected. */
const disconnectGraceMs = 1_000;

/** Releases a request's concurrency slot while the request waits, for example in a long poll. */
export async function releaseLoadShedderSlotWhile<Result>({ req }: ServerResponse, pending: Promise<Result>): Promise<Result> {
  const { slot } = getRequestContext(req);
  slot?.suspend();
  try {
    return await pending;
  } finally {
    slot?.resume();
  }
}

class ActiveRequest implements ConcurrencySlot {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /**
   * Only `working` requests hold a slot. A `receiving` request is waiting for its body. A `resting` request is waiting for an event and
   * needs no processing in the meantime.
   */
  state: 'working' | 'receiving' | 'resting' | 'done' = 'working';
  since = performance.now();
  /** Bytes received on the connection before this request. */
  readonly receivedBefore: number;
  /** Index in the list of running requests. */
  index: number;
  readonly #shedder: LoadShedder;

  constructor(shedder: LoadShedder, req: IncomingMessage, res: ServerResponse, index: number) {
    this.#shedder = shedder;
    this.req = req;
    this.res = res;
    this.receivedBefore = req.socket.bytesRead;
    this.index = index;
  }

  suspend(): void {
    this.#shedder.suspend(this);
  }

  resume(): void {
    this.#shedder.resume(this);
  }
}

/**
 * Limits concurrent requests, queues a bounded number of further requests and rejects all others immediately. With an unbounded queue,
 * every client would wait for a response that arrives too late. Slow uploads and slow readers hold no slot.
 */
export class LoadShedder {
  readonly #limits: LoadLimits;
  readonly #reject: WriteRejectionResponse;
  /**
   * This field is an array and not a `Set`, because the old hash tables of a growing `Set` keep finished requests alive (see
   * `createSymbolKeyedProperty`).
   */
  readonly #running: ActiveRequest[] = [];
  readonly #queue: QueuedRequest[] = [];
  readonly #timer: NodeJS.Timeout;
  #workingCount = 0;
  #overloaded = false;
  /** Sockets on which a request has been queued since the most recent overload check. */
  #recentSockets = new Set<object>();
  #overloadCheckedAt = 0;
  readonly #rejectedCounts = { overloaded: 0, 'no answer': 0, 'no body': 0 };

  constructor(limits: LoadLimits, refuse: WriteRejectionResponse) {
    this.#limits = limits;
    this.#reject = (req, res, why) => {
      this.#rejectedCounts[why] += 1;
      refuse(req, res, why);
    };
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Numbers of running and queued requests, and of requests rejected since the process started. */
  get counts(): { readonly working: number; readonly waiting: number; readonly refused: Readonly<Record<RejectionReason, number>> } {
    return { working: this.#workingCount, waiting: this.#queue.length, refused: this.#rejectedCounts };
  }

  handle(req: IncomingMessage, res: ServerResponse, handler: RequestListener): void {
    if (this.#hasFreeSlot() && this.#queue.length === 0) return this.#start(req, res, handler);
    this.#queue.push({ req, res, handler, since: performance.now() });
    if (!this.#overloaded && this.#queue.length > this.#limits.maxQueued)
      [this.#overloaded, this.#overloadCheckedAt] = [true, performance.now()];
    if (this.#overloaded) this.#shedQueue(req);
  }

  suspend(activeRequest: ActiveRequest): void {
    if (activeRequest.state !== 'working') return;
    activeRequest.state = 'resting';
    this.#release();
  }

  resume(activeRequest: ActiveRequest): void {
    if (activeRequest.state === 'done' || activeRequest.state === 'working') return;
    [activeRequest.state, activeRequest.since] = ['working', performance.now()];
    this.#workingCount += 1;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #hasFreeSlot(): boolean {
    return this.#workingCount < (this.#overloaded ? this.#limits.maxConcurrentOverloaded : this.#limits.maxConcurrent);
  }

  #start(req: IncomingMessage, res: ServerResponse, handler: RequestListener): void {
    const activeRequest = new ActiveRequest(this, req, res, this.#running.length);
    getRequestContext(req).slot = activeRequest;
    this.#running.push(activeRequest);
    this.#workingCount += 1;
    // The slot is released when the response begins, because the time to read the response depends on the client.
    const writeHead = res.writeHead.bind(res);
    Reflect.set(res, 'writeHead', (...head: Parameters<typeof writeHead>) => {
      this.#finish(activeRequest);
      return writeHead(...head);
    });
    res.once('close', () => {
      if (activeRequest.state !== 'done') setTimeout(() => this.#finish(activeRequest), disconnectGraceMs).unref();
    });
    handler(req, res);
  }

  #finish(activeRequest: ActiveRequest): void {
    if (activeRequest.state === 'done') return;
    const heldSlot = activeRequest.state === 'working';
    activeRequest.state = 'done';
    const last = this.#running.pop();
    // Moves the last entry into the freed index.
    if (last && last !== activeRequest) [this.#running[activeRequest.index], last.index] = [last, activeRequest.index];
    if (heldSlot) this.#release();
  }

  #release(): void {
    this.#workingCount -= 1;
    while (this.#hasFreeSlot()) {
      // During overload, only the newest request can still be served promptly.
      const next = this.#overloaded ? this.#queue.pop() : this.#queue.shift();
      if (!next) return;
      if (!next.res.destroyed && !next.req.destroyed) this.#start(next.req, next.res, next.handler);
    }
  }

  /** Rejects the oldest queued requests, and keeps only requests that can be served promptly. */
  #shedQueue({ socket }: IncomingMessage): void {
    this.#recentSockets.add(socket);
    const shed = this.#queue.splice(0, Math.max(0, this.#queue.length - this.#limits.maxQueuedOverloaded));
    for (const { req, res } of shed) this.#reject(req, res, 'overloaded');
  }

  /**
   * Ends the overload state when the queue has room for every connection whose requests could not start immediately. This check counts
   * connections and not requests, so that retries do not prolong the overload state.
   */
  #reassessOverload(now: number): void {
    if (!this.#overloaded || now - this.#overloadCheckedAt < overloadCheckMs) return;
    this.#overloaded = this.#recentSockets.size > this.#limits.maxQueued;
    this.#overloadCheckedAt = now;
    this.#recentSockets.clear();
  }

  // If `#finish` moves a request into a freed index during the loop, this check may skip the request. The next tick checks it.
  #tick(): void {
    const now = performance.now();
    for (const activeRequest of this.#running) this.#enforceTimeouts(activeRequest, now);
    this.#reassessOverload(now);
    const firstInTime = this.#queue.findIndex(({ since }) => now - since <= this.#limits.queueTimeoutMs);
    for (const { req, res } of this.#queue.splice(0, firstInTime === -1 ? this.#queue.length : firstInTime))
      this.#reject(req, res, 'overloaded');
  }

  #enforceTimeouts(activeRequest: ActiveRequest, now: number): void {
    const { req, res, state, since, receivedBefore } = activeRequest;
    // Without Content-Length, the allowed time grows with the number of bytes received.
    const length = Number(req.headers['content-length'] ?? req.socket.bytesRead - receivedBefore);
    if (state === 'receiving' && req.complete) return this.resume(activeRequest);
    if (state === 'working' && !req.complete) {
      activeRequest.state = 'receiving';
      return this.#release();
    }
    if (state === 'receiving' && now - since > this.#limits.bodyTimeoutMs + length / slowestBytesPerMs) this.#reject(req, res, 'no body');
    if (state === 'working' && now - since > this.#limits.handlerTimeoutMs) this.#reject(req, res, 'no answer');
  }
}
