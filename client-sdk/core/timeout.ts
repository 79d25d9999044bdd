import { AbortError, TimeoutError, unreachable } from './errors.ts';

/** How long something may take, and the caller's signal, in one. */
export type Countdown = {
  /** Aborted when the time is over or the caller ends it. */
  readonly signal: AbortSignal;
  /** Something has moved: the time begins anew. */
  restart(): void;
  /** Until it is started again. */
  pause(): void;
  /** Leaves neither timer nor listener behind. */
  stop(): void;
  /** What went wrong, in our own words. */
  failure(cause: unknown): Error;
};

/** Timers that are longer fire at once. */
const timerMaxMs = 2 ** 31 - 1;

/** `until`: the moment (of `performance.now()`) that ends it even if something moves. */
export function countdown(origin: string, timeoutMs: number, aborted: AbortSignal | undefined, until = Infinity): Countdown {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const started = () => setTimeout(end, Math.min(timeoutMs, until - performance.now(), timerMaxMs));
  let timer = started();
  aborted?.addEventListener('abort', end);
  if (aborted?.aborted) end();
  return {
    signal: ended.signal,
    restart: () => {
      clearTimeout(timer);
      timer = started();
    },
    pause: () => clearTimeout(timer),
    stop: () => {
      clearTimeout(timer);
      aborted?.removeEventListener('abort', end);
    },
    failure: (cause) => {
      if (aborted?.aborted) return new AbortError('The call was aborted', { cause: aborted.reason });
      if (!ended.signal.aborted) return unreachable(origin, cause);
      const time = performance.now() < until ? `within ${timeoutMs / 1000} s` : 'before the deadline';
      return new TimeoutError(`No answer from ${origin} ${time}`, { cause });
    },
  };
}
