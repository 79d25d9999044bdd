import { AbortError, ApiError, ConnectionError, DecodeError, TimeoutError } from './errors.ts';

export type RetryLimits = {
  /** Maximum number of retries. */
  readonly maxRetries: number;
  /** Maximum delay before a retry. The call fails immediately if the service requests a delay above this maximum. */
  readonly maxRetryDelayMs: number;
};

const retryableStatuses: readonly number[] = [408, 429, 500, 502, 503, 504];
const delayBaseMs = 500;
const delayMaxMs = 8_000;

/** Returns the delay before the next attempt, or `undefined` if the request must not be retried. `attempt` starts at 0. */
export function calculateRetryDelay(error: unknown, attempt: number, rules: RetryLimits): number | undefined {
  if (attempt >= rules.maxRetries || !isTransient(error)) return undefined;
  const requestedSeconds = error instanceof ApiError ? error.retryAfterSeconds : undefined;
  if (requestedSeconds === undefined) return Math.random() * Math.min(delayMaxMs, delayBaseMs * 2 ** attempt);
  return requestedSeconds * 1000 <= rules.maxRetryDelayMs ? requestedSeconds * 1000 : undefined;
}

function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (error instanceof ApiError && error.code === 'idempotency_in_progress') return true;
  if (!(error instanceof ApiError || error instanceof DecodeError)) return false;
  return retryableStatuses.includes(error.status);
}

/**
 * Limits a client's retries, because unlimited retries would multiply the load on a service that is down.
 * A retry takes 5 tokens from the budget. A success adds 5 tokens if it follows a retry, and 1 token if the first attempt succeeds.
 */
export class RetryBudget {
  #tokens = 500;

  spend(): boolean {
    if (this.#tokens < 5) return false;
    this.#tokens -= 5;
    return true;
  }

  earn(attempt: number): void {
    this.#tokens = Math.min(500, this.#tokens + (attempt > 0 ? 5 : 1));
  }
}

/** Waits for `ms`, or until the caller's signal is aborted, and then removes the timer and the abort listener. */
export async function waitUnlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await awaitUntilAbortOrDeadline(signal, elapsed).finally(() => clearTimeout(timer));
}

/** Returns the result of `awaited`. Rejects if the caller's signal is aborted or the deadline passes first. */
export async function awaitUntilAbortOrDeadline<T>(signal: AbortSignal | undefined, awaited: T | Promise<T>, until = Infinity): Promise<T> {
  let stop: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    const end = (): void => reject(new AbortError('Call aborted', { cause: signal?.reason }));
    const timer =
      until < Infinity
        ? setTimeout(() => reject(new TimeoutError('No access token before the deadline')), until - performance.now())
        : undefined;
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    };
  });
  return Promise.race([ended, awaited]).finally(stop);
}
