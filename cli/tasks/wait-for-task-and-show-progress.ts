import { AbortError, WaitTimeoutError, type Client, type Task } from '@mandate/client-sdk';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { createProgressBar, formatRateAndTimeLeft } from '../terminal/progress-bar.ts';
import { createProgressRateMeter } from '../terminal/progress-rate.ts';
import { parseDurationMs } from '../settings/parse-duration.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** The flags of all commands that wait for a task, as parsed by commander. */
export type WaitFlags = { readonly maxWait?: string; readonly interval?: string };

/** Converts the wait flags to milliseconds, and omits flags that are not set. */
export const parseWaitFlags = ({ maxWait, interval }: WaitFlags): { maxWaitMs?: number; intervalMs?: number } => ({
  ...(maxWait !== undefined && { maxWaitMs: parseDurationFlag('--max-wait', maxWait) }),
  ...(interval !== undefined && { intervalMs: parseDurationFlag('--interval', interval) }),
});

function parseDurationFlag(flag: string, text: string): number {
  const ms = parseDurationMs(text);
  if (!ms)
    throw new CommandError(exitCodes.usage, 'usage', `${flag} must be a duration such as 500ms, 30s or 5m, not ${JSON.stringify(text)}`);
  return ms;
}

/** Waits until a task finishes and shows its progress. */
export async function waitForTaskAndShowProgress(
  io: CliEnvironment,
  settings: Settings,
  client: Client,
  id: number | string,
  flags: WaitFlags,
): Promise<Task> {
  const progress = createProgressBar(io, settings);
  const measure = createProgressRateMeter();
  const onProgress = ({ type, status, progress: { processed, total } }: Task): void => {
    const fraction = total ? processed / total : undefined;
    const rate = measure(processed, total ?? undefined);
    progress.show({
      label: type.replace('_', ' '),
      fraction,
      amount: total === null ? String(processed) : `${processed}/${total}`,
      rate:
        status === 'running'
          ? formatRateAndTimeLeft(rate, (perSecond) => `${Math.round(perSecond)} ${type === 'order_export' ? 'orders' : 'rows'}`)
          : undefined,
      state: status,
    });
  };
  const hint = `The task is still running. To wait for it, run: mandate tasks wait ${id}`;
  try {
    return await client.tasks.wait(id, { signal: io.interrupted, onProgress, ...parseWaitFlags(flags) });
  } catch (error) {
    if (error instanceof AbortError) throw new CommandError(exitCodes.interrupted, error.code, 'Interrupted', { hint });
    if (error instanceof WaitTimeoutError) throw new CommandError(exitCodes.waitTimeout, error.code, error.message, { hint });
    throw error;
  } finally {
    progress.end();
  }
}

/** Throws if the task failed or was canceled. */
export function assertTaskSucceeded({ id, status, error }: Task): void {
  if (status === 'succeeded') return;
  throw new CommandError(exitCodes.otherOutcome, error?.code ?? `task_${status}`, error?.detail ?? `Task ${id} was canceled`);
}
