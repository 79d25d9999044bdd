import type { Command } from 'commander';
import { waitForTaskAndShowProgress, assertTaskSucceeded, type WaitFlags } from '../../tasks/wait-for-task-and-show-progress.ts';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
} from '../../contract-commands/build-request-and-convert-api-errors.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { printSuggestedNextCommand } from '../../output/suggested-next-commands.ts';
import { getCommandGroupOrThrow, readGlobalFlags, addCommandWithoutSubcommands } from '../global-flags-and-command-groups.ts';
import { openProfileSession, assertSignedInWithScopes } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../../output/print-result.ts';
import { assertNoImportRowsRejected } from '../../output/print-import-summary.ts';

/** Adds the flags for commands that wait for a task. */
export const addTaskWaitFlags = (command: Command): Command =>
  command
    .option('--max-wait <duration>', 'maximum time to wait, such as 10m; exit with code 13 when it elapses (the task keeps running)')
    .option('--interval <duration>', 'polling interval (default: as requested by the service)');

export function addTasksWaitCommand(program: Command, io: CliEnvironment): void {
  const command = addTaskWaitFlags(
    addCommandWithoutSubcommands(getCommandGroupOrThrow(program, 'tasks'), 'wait', 'Wait until a task finishes'),
  )
    .description(
      `Wait until a task finishes. The exit code is ${exitCodes.otherOutcome} if the task failed or was canceled, and ${exitCodes.inputRejected} if it was an import that rejected rows or orders.`,
    )
    .argument('<task-id>', 'ID of the task')
    .action(async (id: string) =>
      waitAndPrint(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), id, command.opts<WaitFlags>()),
    );
}

async function waitAndPrint(io: CliEnvironment, settings: Settings, id: string, flags: WaitFlags): Promise<void> {
  const spec = getCommandSpecForOperation('tasks.get');
  validateInputAndBuildRequest({ spec, path: [id], typed: new Map() });
  assertRequestedFieldsKnown(settings, spec.fields);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, ['tasks.read']);
  try {
    const task = await waitForTaskAndShowProgress(io, settings, session.client, id, flags);
    printResult(io, settings, task);
    printSuggestedNextCommand(io, settings, 'tasks.wait', task);
    assertTaskSucceeded(task);
    assertNoImportRowsRejected(task);
  } catch (error) {
    throw commandErrorFromCallError(error, spec, undefined);
  }
}
