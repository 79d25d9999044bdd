import type { Command } from 'commander';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
} from '../../contract-commands/build-request-and-convert-api-errors.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { getCommandGroupOrThrow, readGlobalFlags, addCommandWithoutSubcommands } from '../global-flags-and-command-groups.ts';
import { assertDownloadMayOverwrite, saveDownloadAndVerifyChecksum } from '../../files/save-download-and-verify-checksum.ts';
import { openProfileSession, assertSignedInWithScopes } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';

type Flags = { readonly output: string; readonly yes?: boolean };

export function addDownloadTaskResultCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, 'tasks'), 'result', 'Download the result file of a task')
    .description('Download the file of an export or the report of an import.')
    .argument('<task-id>', 'ID of the task')
    .option('-o, --output <file>', 'path of the output file; - writes to standard output', '-')
    .option('-y, --yes', 'overwrite an existing file')
    .action(async (id: string) =>
      downloadResult(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), id, command.opts<Flags>()),
    );
}

async function downloadResult(io: CliEnvironment, settings: Settings, id: string, flags: Flags): Promise<void> {
  const spec = getCommandSpecForOperation('tasks.result');
  validateInputAndBuildRequest({ spec, path: [id], typed: new Map() });
  const target = { path: flags.output, overwrite: flags.yes ?? false };
  assertDownloadMayOverwrite(target);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, ['tasks.read']);
  try {
    const options = { signal: io.interrupted };
    const { result } = await session.client.tasks.get(id, options);
    await saveDownloadAndVerifyChecksum(io, await session.client.tasks.result(id, options), target, result?.sha256);
  } catch (error) {
    throw commandErrorFromCallError(error, spec, undefined);
  }
}
