import { expect } from 'vitest';
import { createLog, type Log } from '../../server/logging/logger.ts';
import { taskHandlers } from '../../server/app/task-handlers.ts';
import { runTasks, type TaskRunnerDependencies } from '../../server/tasks/run-tasks.ts';
import type { TaskHandler } from '../../server/tasks/task-context.ts';
import type { Answer, Body, Mandate } from './server/start-mandate.ts';

/** Carries out what waits, as the server does in the background. */
export const carryOutTasks = (
  { db }: Mandate,
  kinds: TaskRunnerDependencies['handlers'] = taskHandlers,
  { signal, log = createLog(false) }: { signal?: AbortSignal; log?: Log } = {},
): Promise<number> => runTasks({ em: db.em, log, handlers: kinds }, signal);

/** A task that has just been answered with, carried out to its end, and what it wrote. */
export async function carriedOut(mandate: Mandate, token: string, started: Answer): Promise<{ task: Body; file: string }> {
  expect(started.status, started.text).toBe(202);
  await carryOutTasks(mandate);
  const { body: task } = await mandate.call('GET', `/api/v1/tasks/${started.body.id}`, { token });
  expect(task, JSON.stringify(task.error)).toMatchObject({ status: 'succeeded', error: null });
  const { text: file } = await mandate.call('GET', `/api/v1/tasks/${task.id}/result`, { token });
  return { task, file };
}

/** The same as `taskKinds`, with something that comes before each step of a task. */
export function interrupted(before: (step: number) => unknown): TaskRunnerDependencies['handlers'] {
  const kinds = Object.entries(taskHandlers).map(([type, carryOut]) => {
    const interruptedCarryOut: TaskHandler = (run) => {
      const step = run.step.bind(run);
      let steps = 0;
      run.step = async (effect) => {
        await before((steps += 1));
        return step(effect);
      };
      return carryOut(run);
    };
    return [type, interruptedCarryOut] as const;
  });
  return Object.fromEntries(kinds);
}

/** Begins what waits, and whoever works on it is gone before this step and tells nobody: what a killed process looks like to the others. */
export function dyingAt(mandate: Mandate, step: number): Promise<void> {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const never = new Promise(() => undefined);
  const kinds = interrupted((at) => {
    if (at !== step) return undefined;
    resolve();
    return never;
  });
  void carryOutTasks(mandate, kinds);
  return gone;
}
