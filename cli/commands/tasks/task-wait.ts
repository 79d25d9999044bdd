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

/** Adds the flags of commands that wait for a task. */
export const addWaitFlags = (command: Command): Command =>
  command
    .option('--max-wait <duration>', 'maximum time to wait, such as 10m; then exit with code 13 while the task continues')
    .option('--interval <duration>', 'time between checks (default: as requested by the service)');

export function addTaskWait(program: Command, io: Io): void {
  const command = addWaitFlags(leafCommand(existingGroup(program, 'tasks'), 'wait', 'Wait until a task finishes'))
    .description(
      `Wait until a task finishes. The exit code is ${exitCodes.workFailed} if the task failed or was canceled, and ${exitCodes.inputRefused} if it was an import that rejected rows or orders.`,
    )
    .argument('<task-id>', 'id of the task')
    .action(async (id: string) => waitAndPrint(io, settingsOf(globalFlagsOf(command), io), id, command.opts<WaitFlags>()));
}

async function waitAndPrint(io: Io, settings: Settings, id: string, flags: WaitFlags): Promise<void> {
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
