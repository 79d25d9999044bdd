import { MandateError, WaitTimeoutError } from '../core/errors.ts';
import type { Task, TasksResource } from '../generated/resources.gen.ts';
import { calculateRetryDelay, waitUnlessAborted, type RetryLimits } from '../core/retry-policy.ts';

/** Options for `tasks.wait`. */
export type WaitOptions = {
  /** Aborts the wait but does not cancel the task. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the task after every poll. */
  readonly onProgress?: ((task: Task) => void) | undefined;
  /** Maximum time to wait (default: none). If this limit is exceeded, the call fails with `WaitTimeoutError`. */
  readonly maxWaitMs?: number | undefined;
  /** Polling interval (default: the service's `Retry-After` value). */
  readonly intervalMs?: number | undefined;
};

const defaultIntervalMs = 2_000;
/** Maximum duration of a tolerated service outage. A service restart takes less time. */
const maxOutageMs = 60_000;

/** Polls a task until it finishes. */
export async function waitForTask(
  tasks: Pick<TasksResource, 'get'>,
  limits: RetryLimits,
  id: number | string,
  options: WaitOptions = {},
): Promise<Task> {
  const { signal, onProgress, maxWaitMs = Infinity, intervalMs } = options;
  const startedAt = Date.now();
  let [lastResponseAt, failures] = [startedAt, 0];
  let task: Task | undefined;
  for (;;) {
    let delayMs: number;
    try {
      const { data, headers } = await tasks.get(id, { signal, maxRetries: 0 }).withResponse();
      task = data;
      onProgress?.(task);
      if (task.finished_at !== null) return task;
      [lastResponseAt, failures] = [Date.now(), 0];
      delayMs = intervalMs ?? (Number(headers.get('retry-after')) * 1000 || defaultIntervalMs);
    } catch (error) {
      const isTolerated = error instanceof MandateError && Date.now() - lastResponseAt < maxOutageMs;
      const backOffMs = isTolerated ? calculateRetryDelay(error, failures++, { ...limits, maxRetries: Infinity }) : undefined;
      if (backOffMs === undefined) throw error;
      delayMs = backOffMs;
    }
    const leftMs = startedAt + maxWaitMs - Date.now();
    if (leftMs <= 0) throw new WaitTimeoutError(`Task ${id} did not finish within ${maxWaitMs / 1000} s`, task);
    await waitUnlessAborted(Math.min(delayMs, leftMs), signal);
  }
}
