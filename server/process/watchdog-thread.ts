import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { createLogger } from '../logging/logger.ts';
import { eventLoopHeartbeatIntervalMs, type WatchdogData } from './watchdog.ts';

const { state, limitSeconds, production } = z.custom<WatchdogData>().parse(workerData);

// The message is written synchronously, because the blocked main thread could not write this thread's output.
const log = createLogger(production, { write: (line) => void writeSync(2, line) });

let heartbeat = Atomics.load(state, 0);
let blockedMs = 0;

/** Counts checks instead of measuring elapsed time, which would include periods when the whole process is suspended or gets no CPU time. */
function check(): void {
  const latest = Atomics.load(state, 0);
  const canBePaused = Atomics.load(state, 1) === 1;
  blockedMs = latest === heartbeat && !canBePaused ? blockedMs + eventLoopHeartbeatIntervalMs : 0;
  heartbeat = latest;
  if (blockedMs < limitSeconds * 1_000) return;
  log.fatal({ blocked_seconds: limitSeconds }, 'the event loop is blocked: the process is terminated, so that it can be restarted');
  process.kill(process.pid, 'SIGKILL');
}

setInterval(check, eventLoopHeartbeatIntervalMs);
