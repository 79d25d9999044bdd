import { MandateError, WaitOverError } from './errors.ts';
import type { Task } from '../generated/resources.gen.ts';
import { filledPath } from './request-url.ts';
import { delayBeforeRetry, pause } from './retry.ts';
import { send, type TransportSettings } from './transport.ts';

export type WaitOptions = {
  /** Ends the waiting; the task goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Told of the task whenever it is looked at. */
  readonly onProgress?: ((task: Task) => void) | undefined;
  /** Fails with `WaitOverError` when the task is not finished by then; there is no end to the waiting unless said otherwise. */
  readonly maxWaitMs?: number | undefined;
  /** Between two looks; as the service asks unless said otherwise. */
  readonly intervalMs?: number | undefined;
};

const intervalUsualMs = 2_000;
/** A service that does not answer for so long is not only being started again. */
const silenceMaxMs = 60_000;

/** Looks at a task until it is finished. */
export async function waitForTask(settings: TransportSettings, id: number | string, options: WaitOptions = {}): Promise<Task> {
  const { signal, onProgress, maxWaitMs = Infinity, intervalMs } = options;
  const path = filledPath('/api/v1/tasks/{task_id}', [id]);
  const begun = Date.now();
  let [answeredAt, failures] = [begun, 0];
  let task: Task | undefined;
  for (;;) {
    let delayMs: number;
    try {
      const { data, headers } = await send(settings, { method: 'GET', path }, { signal, maxRetries: 0 });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the contract says of this path
      task = data as Task;
      onProgress?.(task);
      if (task.finished_at !== null) return task;
      [answeredAt, failures] = [Date.now(), 0];
      delayMs = intervalMs ?? (Number(headers.get('retry-after')) * 1000 || intervalUsualMs);
    } catch (error) {
      const mayPass = error instanceof MandateError && Date.now() - answeredAt < silenceMaxMs;
      const backOffMs = mayPass ? delayBeforeRetry(error, failures++, { ...settings, maxRetries: Infinity }) : undefined;
      if (backOffMs === undefined) throw error;
      delayMs = backOffMs;
    }
    const leftMs = begun + maxWaitMs - Date.now();
    if (leftMs <= 0) throw new WaitOverError(`Task ${id} is not finished after ${maxWaitMs / 1000} s`, task);
    await pause(Math.min(delayMs, leftMs), signal);
  }
}
