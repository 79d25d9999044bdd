import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { EventSequenceCounter } from '../events/event-and-sequence-counter.entity.ts';
import type { EventLongPoller } from '../events/event-long-poll.ts';
import { releaseLoadShedderSlotWhile } from '../http/server/load-shedder.ts';

type WaitOptions<Result> = {
  readonly em: EntityManager;
  readonly newEvents: EventLongPoller;
  readonly res: Response;
  readonly seconds: number;
  readonly read: () => Promise<Result>;
  /** Returns whether the result is final, so that the response can be sent. */
  readonly isDone: (result: Result) => boolean;
  /** Returns the time at which the result changes without an event, for example because an approval expires. */
  readonly changesAt: (result: Result) => Date | undefined;
  /** Minimum time between two reads (default: none). */
  readonly minReadIntervalMs?: number;
};

/**
 * Repeats `read` until its result satisfies `isDone` or the time has elapsed. Every change to an order or an approval writes an event, and
 * each event triggers another read.
 */
export async function longPollUntilDoneOrTimeout<Result>({
  em,
  newEvents,
  res,
  seconds,
  read,
  isDone,
  changesAt,
  minReadIntervalMs = 0,
}: WaitOptions<Result>): Promise<Result> {
  const disconnected = new AbortController();
  res.on('close', () => disconnected.abort());
  const until = performance.now() + seconds * 1000;
  for (;;) {
    // The sequence number is read before the result, so that an event committed in between ends the wait.
    const sequence = await em.fork().findOne(EventSequenceCounter, { id: 1 });
    const nextRead = performance.now() + minReadIntervalMs;
    const result = await read();
    const leftMs = until - performance.now();
    if (leftMs <= 0 || isDone(result) || disconnected.signal.aborted || newEvents.stopped) return result;
    const changeMs = (changesAt(result)?.getTime() ?? Infinity) - Date.now();
    const waiting = newEvents
      .wait(sequence?.lastSeq ?? 0, Math.min(leftMs, Math.max(changeMs, 1)), disconnected.signal)
      .then(() => pauseUntil(newEvents.stopped ? 0 : nextRead, disconnected.signal));
    await releaseLoadShedderSlotWhile(res, waiting);
  }
}

/** Resolves at the given time (as returned by `performance.now()`), or when the signal is aborted. */
async function pauseUntil(time: number, signal: AbortSignal): Promise<void> {
  const leftMs = time - performance.now();
  if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => undefined);
}
