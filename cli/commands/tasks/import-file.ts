import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import { MandateError, type Client, type Task } from '@mandate/client-sdk';
import {
  waitForTaskAndShowProgress,
  assertTaskSucceeded,
  parseWaitFlags,
  type WaitFlags,
} from '../../tasks/wait-for-task-and-show-progress.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import {
  commandErrorFromCallError,
  validateInputAndBuildRequest,
  getCommandSpecForOperation,
  type ContractRequest,
} from '../../contract-commands/build-request-and-convert-api-errors.ts';
import type { CliEnvironment } from '../../environment/cli-environment-type.ts';
import {
  getCommandGroupOrThrow,
  readGlobalFlags,
  addCommandWithoutSubcommands,
  setCompletionChoices,
} from '../global-flags-and-command-groups.ts';
import { createProgressBar, formatRateAndTimeLeft, formatBytes } from '../../terminal/progress-bar.ts';
import { createProgressRateMeter } from '../../terminal/progress-rate.ts';
import { checkImportFileEncodingAndRows } from '../../files/check-import-file.ts';
import { openUploadFile, type UploadFile } from '../../files/open-upload-file.ts';
import type { RawFlagValues } from '../../contract-commands/parse-flag-values.ts';
import { assertDownloadMayOverwrite, saveDownloadAndVerifyChecksum } from '../../files/save-download-and-verify-checksum.ts';
import { isRecord } from '../../schema/find-schema-violations.ts';
import { openProfileSession, assertSignedInWithScopes } from '../../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../../output/print-result.ts';
import { assertNoImportRowsRejected, printImportSummary, printFailedOrCanceledImport } from '../../output/print-import-summary.ts';
import { addOperationFlagsAndCollectValues } from '../add-api-operation-commands.ts';
import { addTaskWaitFlags } from './task-wait.ts';

type Flags = WaitFlags & { readonly format?: string; readonly report?: string; readonly yes?: boolean; readonly idempotencyKey?: string };
type ImportKind = { readonly operationId: `${'order' | 'product' | 'user'}Imports.create`; readonly scope: string };

const importKinds = {
  products: { operationId: 'productImports.create', scope: 'products.write' },
  orders: { operationId: 'orderImports.create', scope: 'orders.manage' },
  users: { operationId: 'userImports.create', scope: 'users.administer' },
} as const satisfies Record<string, ImportKind>;

export function addImportCommand(program: Command, io: CliEnvironment, group: keyof typeof importKinds): void {
  const kind = importKinds[group];
  const spec = getCommandSpecForOperation(kind.operationId);
  const command = addCommandWithoutSubcommands(getCommandGroupOrThrow(program, group), 'import', `Import ${group} from a file`)
    .description(`Import ${group} from a file.\n${spec.description ?? ''}`)
    .argument('<file>', 'CSV file with a header, or file with one JSON object per line; can be compressed (.gz); - reads standard input');
  const typed = addOperationFlagsAndCollectValues(command, spec);
  addTaskWaitFlags(command)
    .addOption(
      setCompletionChoices(new Option('--format <name>', 'csv or ndjson (default: derived from the file name, otherwise csv)'), [
        'csv',
        'ndjson',
      ]),
    )
    .option('--report <file>', 'write the import report to this file, as one JSON object per line')
    .option('-y, --yes', 'overwrite an existing report file')
    .addHelpText(
      'after',
      `\nThe command checks a file before it sends the file, but does not check standard input.\nThe exit code is ${exitCodes.inputRejected} if any rows or orders were rejected. All other rows and orders were imported.\nRequires the scopes ${requiredScopes(kind).join(', ')}.`,
    )
    .action(async (path: string) =>
      importFile(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), kind, path, typed, command.opts<Flags>()),
    );
}

const requiredScopes = ({ scope }: ImportKind): string[] => ['tasks.read', 'tasks.write', scope];

async function importFile(
  io: CliEnvironment,
  settings: Settings,
  kind: ImportKind,
  path: string,
  typed: RawFlagValues,
  flags: Flags,
): Promise<void> {
  const spec = getCommandSpecForOperation(kind.operationId);
  const request = validateInputAndBuildRequest({ spec, path: [], typed });
  assertRequestedFieldsKnown(settings, spec.fields);
  parseWaitFlags(flags);
  const report = flags.report === undefined ? undefined : { path: flags.report, overwrite: flags.yes ?? false };
  if (report) assertDownloadMayOverwrite(report);
  const file = await openUploadFile(io, path, flags.format);
  if (file.check) await checkImportFileEncodingAndRows(path, file.check(), file.contentType);
  const session = await openProfileSession(io, settings);
  assertSignedInWithScopes(session, requiredScopes(kind));
  const { client } = session;
  const idempotencyKey = flags.idempotencyKey ?? randomUUID();
  try {
    const id = await upload(io, settings, client, request, file, idempotencyKey);
    const task = await waitForTaskAndShowProgress(io, settings, client, id, flags);
    printResult(io, settings, task);
    if (task.status !== 'succeeded' && !settings.quiet) printFailedOrCanceledImport(io, task);
    assertTaskSucceeded(task);
    if (report)
      await saveDownloadAndVerifyChecksum(io, await client.tasks.result(id, { signal: io.interrupted }), report, task.result?.sha256);
    if (!settings.quiet) await printImportSummary(io, client, task, report?.path);
    assertNoImportRowsRejected(task);
  } catch (error) {
    throw error instanceof MandateError ? commandErrorFromCallError(error, spec, idempotencyKey) : error;
  }
}

async function upload(
  io: CliEnvironment,
  settings: Settings,
  client: Client,
  request: ContractRequest,
  { content, contentType, bytes }: UploadFile,
  idempotencyKey: string,
): Promise<Task['id']> {
  const progress = createProgressBar(io, settings);
  const measure = createProgressRateMeter();
  const onProgress = (sent: number): void => {
    const rate = formatRateAndTimeLeft(measure(sent, bytes), formatBytes);
    progress.show({ label: 'upload', fraction: bytes ? sent / bytes : undefined, amount: formatBytes(sent), rate, state: '' });
  };
  try {
    const task = await client.request({ ...request, file: content }, { signal: io.interrupted, idempotencyKey, contentType, onProgress });
    if (isRecord(task) && typeof task['id'] === 'number') return task['id'];
    throw new Error('the service did not return the ID of the import task');
  } finally {
    progress.end();
  }
}
