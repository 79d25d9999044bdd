import type { Command } from 'commander';
import { awaitTask, requireSuccess, type WaitFlags } from '../../tasks/wait-for-task.ts';
import { explained, requestOf, specOf } from '../../contract-commands/build-request.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { Io } from '../../environment.ts';
import { tellNextStep } from '../../errors/next-steps.ts';
import { existingGroup, globalFlagsOf, leafCommand } from '../../command-helpers.ts';
import { openSession, requireScopes } from '../../sign-in/session.ts';
import { settingsOf, type Settings } from '../../settings/settings.ts';
import { checkFields, showResult } from '../../output/print-result.ts';
import { requireNoneRefused } from '../../output/print-import-summary.ts';

/** Flags of every command that waits for a task. */
export const addWaitFlags = (command: Command): Command =>
  command
    .option('--max-wait <duration>', 'wait so long at most: 10m; then exit code 13, and the task goes on')
    .option('--interval <duration>', 'look so often, in place of as often as the service says');

export function addTaskWait(program: Command, io: Io): void {
  const command = addWaitFlags(leafCommand(existingGroup(program, 'tasks'), 'wait', 'Wait for the end of a task'))
    .description(
      `Wait for the end of a task. The exit code is ${exitCodes.workFailed} if it failed or was canceled, and ${exitCodes.inputRefused} if it is an import that rejected rows or orders.`,
    )
    .argument('<task-id>', 'identifier of the task')
    .action(async (id: string) => waitForTask(io, settingsOf(globalFlagsOf(command), io), id, command.opts<WaitFlags>()));
}

async function waitForTask(io: Io, settings: Settings, id: string, flags: WaitFlags): Promise<void> {
  const spec = specOf('tasks.get');
  requestOf({ spec, path: [id], typed: new Map() });
  checkFields(settings, spec.fields);
  const session = await openSession(io, settings);
  requireScopes(session, ['tasks.read']);
  try {
    const task = await awaitTask(io, settings, session.client, id, flags);
    showResult(io, settings, task);
    tellNextStep(io, settings, 'tasks.wait', task);
    requireSuccess(task);
    requireNoneRefused(task);
  } catch (error) {
    throw explained(error, spec, undefined);
  }
}
