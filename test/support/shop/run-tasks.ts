import { expect } from 'vitest';
import { createLogger, type Log } from '../../../server/logging/logger.ts';
import { taskHandlersByType } from '../../../server/app/task-handlers.ts';
import { runQueuedTasks, type TaskRunnerDependencies } from '../../../server/tasks/run-queued-tasks.ts';
import type { TaskHandler } from '../../../server/tasks/task-attempt.ts';
import type { ApiResponse, ApiServer, JsonBody } from '../server/start-mandate.ts';

/** Runs all pending tasks, as the server's background job does. Returns the number of tasks. */
export const runPendingTasks = (
  { db }: ApiServer,
  handlers: TaskRunnerDependencies['handlers'] = taskHandlersByType,
  { signal, log = createLogger(false) }: { signal?: AbortSignal; log?: Log } = {},
): Promise<number> => runQueuedTasks({ em: db.em, log, handlers }, signal);

/** Runs the task that a request has created, expects it to succeed, and returns the task and its result file. */
export async function completeTask(mandate: ApiServer, token: string, started: ApiResponse): Promise<{ task: JsonBody; file: string }> {
  expect(started.status, started.text).toBe(202);
  await runPendingTasks(mandate);
  const { body: task } = await mandate.callApi('GET', `/api/v1/tasks/${started.body.id}`, { token });
  expect(task, JSON.stringify(task.error)).toMatchObject({ status: 'succeeded', error: null });
  const { text: file } = await mandate.callApi('GET', `/api/v1/tasks/${task.id}/result`, { token });
  return { task, file };
}

/** Runs an import task like `completeTask`. Returns the task, the remarks in its report, and its import counts. */
export async function completeImport(
  server: ApiServer,
  token: string,
  started: ApiResponse,
): Promise<{ task: JsonBody; remarks: JsonBody[]; counts: JsonBody }> {
  const { task, file } = await completeTask(server, token, started);
  return { task, remarks: parseRemarks(file), counts: task.result.imported };
}

/** Parses an import report: one JSON object per line. */
export const parseRemarks = (file: string): JsonBody[] =>
  file
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Returns the task handlers with a hook that runs before each step of a task. */
export function hookTaskSteps(beforeStep: (step: number) => unknown): TaskRunnerDependencies['handlers'] {
  const handlers = Object.entries(taskHandlersByType).map(([type, handler]) => {
    const hookedHandler: TaskHandler = (run) => {
      const step = run.step.bind(run);
      let steps = 0;
      run.step = async (effect) => {
        await beforeStep((steps += 1));
        return step(effect);
      };
      return handler(run);
    };
    return [type, hookedHandler] as const;
  });
  return Object.fromEntries(handlers);
}

/**
 * Starts the pending tasks and suspends them permanently at the given step, to simulate a killed process. Resolves when a task reaches the
 * step.
 */
export function abandonTaskAtStep(mandate: ApiServer, step: number): Promise<void> {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const never = new Promise(() => undefined);
  const handlers = hookTaskSteps((current) => {
    if (current !== step) return undefined;
    resolve();
    return never;
  });
  void runPendingTasks(mandate, handlers);
  return reached;
}
