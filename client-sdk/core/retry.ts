import { AbortError, ApiError, ConnectionError, DecodeError, TimeoutError } from './errors.ts';

export type RetryRules = {
  /** Tries after the first. */
  readonly maxRetries: number;
  /** When the service asks to wait longer than this, the call fails at once. */
  readonly maxRetryDelayMs: number;
};

const statuses: readonly number[] = [408, 429, 500, 502, 503, 504];
const delayBaseMs = 500;
const delayMaxMs = 8_000;

/** How long to wait before the next try, or `undefined` when there shall be none. `attempt` counts from 0. */
export function delayBeforeRetry(error: unknown, attempt: number, rules: RetryRules): number | undefined {
  if (attempt >= rules.maxRetries || !mayPass(error)) return undefined;
  const asked = error instanceof ApiError ? error.retryAfterSeconds : undefined;
  if (asked === undefined) return Math.random() * Math.min(delayMaxMs, delayBaseMs * 2 ** attempt);
  return asked * 1000 <= rules.maxRetryDelayMs ? asked * 1000 : undefined;
}

function mayPass(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (error instanceof ApiError && error.code === 'idempotency_in_progress') return true;
  if (!(error instanceof ApiError || error instanceof DecodeError)) return false;
  return statuses.includes(error.status);
}

/**
 * What a client may spend on tries after the first: a service that is down is not asked many times as often as one that is up.
 * A success that took another try gives back what that cost, any other a little.
 */
export class RetryBudget {
  #left = 500;

  spend(): boolean {
    if (this.#left < 5) return false;
    this.#left -= 5;
    return true;
  }

  earn(attempt: number): void {
    this.#left = Math.min(500, this.#left + (attempt > 0 ? 5 : 1));
  }
}

/** Waits, unless the caller's signal ends it. Leaves neither timer nor listener behind. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await unlessAborted(signal, promise).finally(() => clearTimeout(timer));
}

/** What `awaited` gives, unless the caller's signal or the deadline comes first: then nobody waits for it any longer. */
export async function unlessAborted<T>(signal: AbortSignal | undefined, awaited: T | Promise<T>, until = Infinity): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(new AbortError('The call was aborted', { cause: signal?.reason }));
  const timer =
    until === Infinity ? undefined : setTimeout(() => reject(new TimeoutError('No token before the deadline')), until - performance.now());
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    return await Promise.race([promise, awaited]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
