import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Log } from '../logging/logger.ts';

/** Data for the watchdog thread. */
export type WatchdogData = {
  /** Two numbers in shared memory. The first is the heartbeat count; the second indicates whether a debugger can pause this process. */
  readonly state: Int32Array<SharedArrayBuffer>;
  readonly limitSeconds: number;
  readonly production: boolean;
};

export const eventLoopHeartbeatIntervalMs = 1_000;

/**
 * Starts a thread that kills this process when its event loop has been blocked for `limitSeconds`, so that a supervisor can restart it.
 * Neither the thread nor the heartbeat keeps the process alive.
 */
export function startEventLoopWatchdog(limitSeconds: number, production: boolean, log: Log): void {
  if (limitSeconds === 0) return;
  const state = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const beat = (): void => {
    Atomics.add(state, 0, 1);
    Atomics.store(state, 1, inspectorUrl() === undefined ? 0 : 1);
  };
  setInterval(beat, eventLoopHeartbeatIntervalMs).unref();
  const workerData: WatchdogData = { state, limitSeconds, production };
  const thread = new Worker(new URL('watchdog-thread.ts', import.meta.url), { workerData, execArgv: [] });
  thread.on('error', (error) => log.error({ err: error }, 'the watchdog thread stopped: a blocked event loop is no longer detected'));
  thread.unref();
}
