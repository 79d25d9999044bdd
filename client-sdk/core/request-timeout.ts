import { AbortError, TimeoutError, createConnectionError } from './errors.ts';

/** A request timeout, combined with the caller's signal. */
export type RequestTimeout = {
  /** Aborted when the timeout expires or the caller's signal is aborted. */
  readonly signal: AbortSignal;
  /** Restarts the timer after progress. */
  restart(): void;
  /** Stops the timer until `restart` is called. */
  pause(): void;
  /** Stops the timer permanently and removes the listener. */
  stop(): void;
  /** Converts an error to a `MandateError` that states the actual cause: abort, timeout or connection failure. */
  failure(cause: unknown): Error;
};

/** Maximum delay of `setTimeout`. With a longer delay, the timer would fire immediately. */
const timerMaxMs = 2 ** 31 - 1;

/** Starts a timeout. `until` is a deadline on the `performance.now()` clock; progress does not extend it. */
export function startRequestTimeout(origin: string, timeoutMs: number, aborted: AbortSignal | undefined, until = Infinity): RequestTimeout {
  const controller = new AbortController();
  const end = (): void => controller.abort();
  const startTimer = () => setTimeout(end, Math.min(timeoutMs, until - performance.now(), timerMaxMs));
  let timer = startTimer();
  aborted?.addEventListener('abort', end);
  if (aborted?.aborted) end();
  return {
    signal: controller.signal,
    restart: () => {
      clearTimeout(timer);
      timer = startTimer();
    },
    pause: () => clearTimeout(timer),
    stop: () => {
      clearTimeout(timer);
      aborted?.removeEventListener('abort', end);
    },
    failure: (cause) => {
      if (aborted?.aborted) return new AbortError('Call aborted', { cause: aborted.reason });
      if (!controller.signal.aborted) return createConnectionError(origin, cause);
      // Timers can fire a few milliseconds early.
      const time = performance.now() < until - 5 ? `within ${timeoutMs / 1000} s` : 'before the deadline';
      return new TimeoutError(`No response from ${origin} ${time}`, { cause });
    },
  };
}
