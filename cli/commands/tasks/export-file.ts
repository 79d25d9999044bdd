import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Task } from '@mandate/client-sdk';
import {
  waitForTaskAndShowProgress,
  assertTaskSucceeded,
  parseWaitFlags,
  type WaitFlags,
} from '../../tasks/wait-for-task-and-show-progress.ts';
import { CommandError } from '../../errors/command-error.ts';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
  type ContractRequest,
} from '../../contract-commands/build-request-and-convert-api-errors.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import { chooseOrderReadScope } from '../../sign-in/choose-order-read-scope.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize-and-measure-terminal-text.ts';
import { getCommandGroupOrThrow, readGlobalFlags, addCommandWithoutSubcommands } from '../global-flags-and-command-groups.ts';
import { formatBytes } from '../../terminal/progress-bar.ts';
import type { RawFlagValues } from '../../contract-commands/parse-flag-values.ts';
import {
  assertDownloadMayOverwrite,
  saveDownloadAndVerifyChecksum,
  type DownloadTarget,
} from '../../files/save-download-and-verify-checksum.ts';
import { isRecord } from '../../schema/find-schema-violations.ts';
import { openProfileSession, assertSignedInWithScopes, type ProfileSession } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../../output/print-result.ts';
import { addOperationFlagsAndCollectValues } from '../add-api-operation-commands.ts';
import { addTaskWaitFlags } from './task-wait.ts';

type Flags = WaitFlags & { readonly output?: string; readonly yes?: boolean; readonly wait: boolean; readonly idempotencyKey?: string };

type ExportKind = {
  readonly operationId: 'orderExports.create' | 'userExports.create';
  /** Names of the required scopes, for the command help. */
  readonly scopeNames: string;
  /** Returns the scope that the export requires in addition to the scopes for tasks. */
  readonly getScope: (session: ProfileSession) => string;
};

const exportKinds = {
  orders: { operationId: 'orderExports.create', scopeNames: 'orders.read, tasks.read and tasks.write', getScope: chooseOrderReadScope },
  users: {
    operationId: 'userExports.create',
    scopeNames: 'users.administer, tasks.read and tasks.write',
    getScope: () => 'users.administer',
  },
} as const satisfies Record<string, ExportKind>;
type Group = keyof typeof exportKinds;

export function addExportCommand(program: Command, io: CliEnvironment, group: Group): void {
  const { operationId, scopeNames } = exportKinds[group];
  const spec = getCommandSpecForOperation(operationId);
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, group), 'export', `Export ${group} to a file`).description(
    `Export ${group} to a file. The file is created only when the export is complete. If the output is piped, the export is written to standard output.\n${spec.description ?? ''}`,
  );
  const typed = addOperationFlagsAndCollectValues(command, spec);
  addTaskWaitFlags(command)
    .option('-o, --output <file>', 'path of the output file; - writes to standard output')
    .option('--no-wait', 'start the export, print the task and exit without waiting')
    .option('-y, --yes', 'overwrite an existing file')
    .addHelpText('after', `\nRequires the scopes ${scopeNames}.`)
    .action(async () =>
      exportFile(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), group, typed, command.opts<Flags>()),
    );
}

async function exportFile(io: CliEnvironment, settings: Settings, group: Group, typed: RawFlagValues, flags: Flags): Promise<void> {
  const { operationId, getScope } = exportKinds[group];
  const spec = getCommandSpecForOperation(operationId);
  const request = validateInputAndBuildRequest({ spec, path: [], typed });
  assertRequestedFieldsKnown(settings, spec.fields);
  parseWaitFlags(flags);
  const target: DownloadTarget = { path: flags.output ?? defaultPath(io, group, request), overwrite: flags.yes ?? false };
  if (flags.wait && target.path === '-' && (settings.format !== 'text' || settings.get !== undefined)) {
    throw new CommandError(exitCodes.usage, 'usage', 'Cannot write both the file and the task to standard output', {
      hint: `Specify an output file, as in: -o ${group}.csv`,
    });
  }
  if (flags.wait) assertDownloadMayOverwrite(target);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, [getScope(session), 'tasks.read', 'tasks.write']);
  const idempotencyKey = flags.idempotencyKey ?? randomUUID();
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both operations return a task
    const started = (await session.client.request(request, { signal: io.interrupted, idempotencyKey })) as Task;
    if (!flags.wait) return printStartedExport(io, settings, started);
    const task = await waitForTaskAndShowProgress(io, settings, session.client, started.id, flags);
    await saveExport(io, settings, session, task, target);
  } catch (error) {
    throw commandErrorFromCallError(error, spec, idempotencyKey);
  }
}

function printStartedExport(io: CliEnvironment, settings: Settings, task: Task): void {
  printResult(io, settings, task);
  if (!settings.quiet) io.stderr.write(`Get the file with: mandate tasks wait ${task.id} && mandate tasks result ${task.id} -o <file>\n`);
}

async function saveExport(
  io: CliEnvironment,
  settings: Settings,
  { client }: ProfileSession,
  task: Task,
  target: DownloadTarget,
): Promise<void> {
  assertTaskSucceeded(task);
  await saveDownloadAndVerifyChecksum(io, await client.tasks.result(task.id, { signal: io.interrupted }), target, task.result?.sha256);
  if (settings.format !== 'text' || settings.get !== undefined) printResult(io, settings, task);
  if (settings.quiet || target.path === '-' || !task.result) return;
  io.stderr.write(`${sanitizeForTerminal(`${target.path}: ${task.result.rows} rows, ${formatBytes(task.result.bytes)}`)}\n`);
}

function defaultPath({ stdout }: CliEnvironment, group: Group, { body }: ContractRequest): string {
  const format = isRecord(body) && body['format'] === 'ndjson' ? 'ndjson' : 'csv';
  return stdout.isTTY ? `${group}-${new Date().toISOString().slice(0, 10)}.${format}` : '-';
}
