import type { Command } from 'commander';
import { explained, requestOf, specOf } from '../../contract-commands/build-request.ts';
import type { Io } from '../../environment.ts';
import { existingGroup, globalFlagsOf, leafCommand } from '../../command-helpers.ts';
import { refuseOverwriting, saveFile } from '../../files/download-to-file.ts';
import { openSession, requireScopes } from '../../sign-in/session.ts';
import { settingsOf, type Settings } from '../../settings/settings.ts';

type Flags = { readonly output: string; readonly yes?: boolean };

export function addTaskResult(program: Command, io: Io): void {
  const command = leafCommand(existingGroup(program, 'tasks'), 'result', 'Download the result file of a task')
    .description('Download the file of an export, or the report of an import.')
    .argument('<task-id>', 'id of the task')
    .option('-o, --output <file>', 'path of the file; - writes to standard output', '-')
    .option('-y, --yes', 'overwrite an existing file')
    .action(async (id: string) => downloadResult(io, settingsOf(globalFlagsOf(command), io), id, command.opts<Flags>()));
}

async function downloadResult(io: Io, settings: Settings, id: string, flags: Flags): Promise<void> {
  const spec = specOf('tasks.result');
  requestOf({ spec, path: [id], typed: new Map() });
  const target = { path: flags.output, overwrite: flags.yes ?? false };
  refuseOverwriting(target);
  const session = await openSession(io, settings);
  requireScopes(session, ['tasks.read']);
  try {
    const options = { signal: io.interrupted };
    const { result } = await session.client.tasks.get(id, options);
    await saveFile(io, await session.client.tasks.result(id, options), target, result?.sha256);
  } catch (error) {
    throw explained(error, spec, undefined);
  }
}
