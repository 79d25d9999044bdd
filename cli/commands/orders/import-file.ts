import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import { MandateError, type Client, type Task } from '@mandate/client-sdk';
import { awaitTask, requireSuccess, waitingTimes, type WaitFlags } from '../../tasks/wait-for-task.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { explained, requestOf, specOf, type ContractRequest } from '../../contract-commands/build-request.ts';
import type { Io } from '../../environment.ts';
import { existingGroup, globalFlagsOf, leafCommand, noteChoices } from '../../command-helpers.ts';
import { progressOn, rateText, sizeOf } from '../../terminal/progress-bar.ts';
import { rateMeter } from '../../terminal/progress-rate.ts';
import { checkFile } from '../../files/check-import-file.ts';
import { openFile, type FileToSend } from '../../files/open-upload.ts';
import type { Typed } from '../../contract-commands/parse-flags.ts';
import { refuseOverwriting, saveFile } from '../../files/download-to-file.ts';
import { isObject } from '../../contract-commands/schema-violations.ts';
import { openSession, requireScopes } from '../../sign-in/session.ts';
import { settingsOf, type Settings } from '../../settings/settings.ts';
import { checkFields, showResult } from '../../output/print-result.ts';
import { requireNoneRefused, tellImport, tellUnfinishedImport } from '../../output/print-import-summary.ts';
import { addContractFlags } from '../contract-commands.ts';
import { addWaitFlags } from '../tasks/task-wait.ts';

type Flags = WaitFlags & { readonly format?: string; readonly report?: string; readonly yes?: boolean; readonly idempotencyKey?: string };
type ImportKind = { readonly operationId: 'orderImports.create' | 'productImports.create'; readonly scope: string };

const importKinds = {
  products: { operationId: 'productImports.create', scope: 'products.write' },
  orders: { operationId: 'orderImports.create', scope: 'orders.manage' },
} as const satisfies Record<string, ImportKind>;

export function addImport(program: Command, io: Io, group: 'orders' | 'products'): void {
  const kind = importKinds[group];
  const spec = specOf(kind.operationId);
  const command = leafCommand(existingGroup(program, group), 'import', `Import ${group} from a file`)
    .description(`Import ${group} from a file.\n${spec.description ?? ''}`)
    .argument('<file>', 'CSV file with a header, or one JSON object per line; .gz files are decompressed; - reads standard input');
  const typed = addContractFlags(command, spec);
  addWaitFlags(command)
    .addOption(noteChoices(new Option('--format <name>', 'csv or ndjson (default: from the file name, otherwise csv)'), ['csv', 'ndjson']))
    .option('--report <file>', 'write the import report to this file, as one JSON object per line')
    .option('-y, --yes', 'overwrite an existing report file')
    .addHelpText(
      'after',
      `\nThe file is checked before it is sent, except standard input.\nThe exit code is ${exitCodes.inputRefused} if any row or order was rejected; the others were imported.\nRequires the scopes ${requiredScopes(kind).join(', ')}.`,
    )
    .action(async (path: string) => importFile(io, settingsOf(globalFlagsOf(command), io), kind, path, typed, command.opts<Flags>()));
}

const requiredScopes = ({ scope }: ImportKind): string[] => ['tasks.read', 'tasks.write', scope];

async function importFile(io: Io, settings: Settings, kind: ImportKind, path: string, typed: Typed, flags: Flags): Promise<void> {
  const spec = specOf(kind.operationId);
  const request = requestOf({ spec, path: [], typed });
  checkFields(settings, spec.fields);
  waitingTimes(flags);
  const report = flags.report === undefined ? undefined : { path: flags.report, overwrite: flags.yes ?? false };
  if (report) refuseOverwriting(report);
  const file = await openFile(io, path, flags.format);
  if (file.check) await checkFile(path, file.check(), file.contentType);
  const session = await openSession(io, settings);
  requireScopes(session, requiredScopes(kind));
  const { client } = session;
  const idempotencyKey = flags.idempotencyKey ?? randomUUID();
  try {
    const id = await upload(io, settings, client, request, file, idempotencyKey);
    const task = await awaitTask(io, settings, client, id, flags);
    showResult(io, settings, task);
    if (task.status !== 'succeeded' && !settings.quiet) tellUnfinishedImport(io, task);
    requireSuccess(task);
    if (report) await saveFile(io, await client.tasks.result(id, { signal: io.interrupted }), report, task.result?.sha256);
    if (!settings.quiet) await tellImport(io, client, task, report?.path);
    requireNoneRefused(task);
  } catch (error) {
    throw error instanceof MandateError ? explained(error, spec, idempotencyKey) : error;
  }
}

async function upload(
  io: Io,
  settings: Settings,
  client: Client,
  request: ContractRequest,
  { content, contentType, bytes }: FileToSend,
  idempotencyKey: string,
): Promise<Task['id']> {
  const progress = progressOn(io, settings);
  const measure = rateMeter();
  const onProgress = (sent: number): void => {
    const rate = rateText(measure(sent, bytes), sizeOf);
    progress.show({ label: 'upload', fraction: bytes ? sent / bytes : undefined, amount: sizeOf(sent), rate, state: '' });
  };
  try {
    const task = await client.request({ ...request, file: content }, { signal: io.interrupted, idempotencyKey, contentType, onProgress });
    if (isObject(task) && typeof task['id'] === 'number') return task['id'];
    throw new Error('the service did not return the id of the import task');
  } finally {
    progress.end();
  }
}
